// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/any_view.hpp>
#include <attn/io/tokenizer.hpp>
#include <attn/version.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace attn::models {
inline namespace ATTN_ABI {

// Texts as most programs hold them: rows of one width, filled up with padding. All (batch, width).
struct PaddedTokens {
  In<2> ids = {};    // i32 or i64; what stands at padding is not read
  In<2> mask = {};   // boolean, u8, i32 or i64: 0 at padding, anything else at a token; every token when not given
  In<2> types = {};  // i32 or i64; 0 everywhere when not given
};

}  // namespace ATTN_ABI

// The tokens of several texts, laid end to end: a model then spends no work on padding. Text n has tokens
// starts()[n] .. starts()[n + 1].
class ATTN_API TokenBatch {
 public:
  TokenBatch() = default;
  explicit TokenBatch(const io::Encoding& encoding) { add(encoding); }
  // Tokens in the order of their rows; each stands at the position of its column, as in a model that sees the padding.
  // Throws Error for another dtype or shape, and for numbers that do not fit 32 bits.
  explicit TokenBatch(const PaddedTokens& padded);

  // Appends a text, which may be empty. Token types are 0 when not given, positions 0, 1, 2, ...; throws Error when
  // there is another number of them than of ids.
  void add(std::span<const std::int32_t> ids, std::span<const std::int32_t> types = {},
           std::span<const std::int32_t> positions = {});
  void add(const io::Encoding& encoding) { add(encoding.ids, encoding.type_ids); }

  std::ptrdiff_t texts() const noexcept { return static_cast<std::ptrdiff_t>(starts_.size()) - 1; }
  std::ptrdiff_t tokens() const noexcept { return static_cast<std::ptrdiff_t>(ids_.size()); }
  const std::vector<std::int32_t>& ids() const noexcept { return ids_; }
  const std::vector<std::int32_t>& types() const noexcept { return types_; }
  const std::vector<std::int32_t>& positions() const noexcept { return positions_; }
  const std::vector<std::int32_t>& starts() const noexcept { return starts_; }

 private:
  std::vector<std::int32_t> ids_, types_, positions_, starts_{0};
};

}  // namespace attn::models
