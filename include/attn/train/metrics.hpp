// SPDX-License-Identifier: Apache-2.0
// How well predictions fit what was expected.
#pragma once

#include <attn/export.hpp>
#include <attn/tensor.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace attn::train {

// The class with the largest of each row of logits, (..., classes) f32; of equals the first.
ATTN_API std::vector<std::int32_t> best_classes(const Tensor& logits);

// The share of equal ones. Throws Error for different lengths; nothing of nothing is 0.
ATTN_API double accuracy(std::span<const std::int32_t> predicted, std::span<const std::int32_t> expected);

// A name in a text: tokens begin ... end - 1, of one kind.
struct Span {
  std::ptrdiff_t begin = 0, end = 0;
  std::string kind;
  friend bool operator==(const Span&, const Span&) = default;
  friend auto operator<=>(const Span&, const Span&) = default;
};

// The spans of BIO tags ("B-ns", "I-ns", "O"). An I- that continues no span of its kind belongs to none.
ATTN_API std::vector<Span> spans_of(std::span<const std::string> tags);

// Precision and recall over all texts together, of spans that agree in begin, end and kind.
struct SpanScore {
  std::ptrdiff_t predicted = 0, expected = 0, both = 0;
  double precision() const { return predicted == 0 ? 0 : static_cast<double>(both) / static_cast<double>(predicted); }
  double recall() const { return expected == 0 ? 0 : static_cast<double>(both) / static_cast<double>(expected); }
  // Their harmonic mean.
  double f1() const {
    return predicted + expected == 0 ? 0 : 2 * static_cast<double>(both) / static_cast<double>(predicted + expected);
  }
  // Counts one text more. Throws Error for different lengths.
  ATTN_API void add(std::span<const std::string> predicted_tags, std::span<const std::string> expected_tags);
};

// The tokens of mteval-v13a, as sacreBLEU takes them: punctuation set apart, case kept.
ATTN_API std::vector<std::string> bleu_tokens(std::string_view text);

// BLEU of a corpus in per cent, as sacreBLEU defines it (Post 2018, "A call for clarity in reporting BLEU scores"; the
// score itself: Papineni et al. 2002): bleu_tokens, n-grams up to 4, exponential smoothing, one reference a text,
// brevity penalty. Throws Error for different numbers of texts.
ATTN_API double bleu(std::span<const std::string> hypotheses, std::span<const std::string> references);

}  // namespace attn::train
