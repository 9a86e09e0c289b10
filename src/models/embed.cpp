// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <attn/error.hpp>
#include <attn/models/embed.hpp>
#include <attn/parallel.hpp>
#include <cmath>

#include "base/concat.hpp"

namespace attn::models {
namespace {

using base::concat;

// Texts that threads share out to read them, before any goes through the model.
constexpr std::size_t kTextsAtOnce = 256;

// Divides each row by its L2 norm; a row of zeros stays.
void normalise_rows(View<float, 2> rows) {
  for (std::ptrdiff_t i = 0; i < rows.extent(0); ++i) {
    double squares = 0;
    for (std::ptrdiff_t j = 0; j < rows.extent(1); ++j) {
      squares += static_cast<double>(rows(i, j)) * static_cast<double>(rows(i, j));
    }
    if (squares == 0) continue;
    const double norm = std::sqrt(squares);
    for (std::ptrdiff_t j = 0; j < rows.extent(1); ++j) {
      rows(i, j) = static_cast<float>(static_cast<double>(rows(i, j)) / norm);
    }
  }
}

void check_options(const BertModel& model, const EmbedOptions& options) {
  if (options.batch_tokens < 1) {
    throw Error("models::embed", "batch_tokens", concat(options.batch_tokens, ", expected at least 1"));
  }
  if (!model.sentence_settings().refused.empty()) {
    throw Error("models::embed", "", model.sentence_settings().refused);
  }
}

}  // namespace

Tensor pool(In<2> hidden, const TokenBatch& batch, Pooling pooling, Context& context) {
  if (hidden.dtype() != DType::f32 || hidden.rank_found() != 2 || hidden.extent(0) != batch.tokens()) {
    throw Error("models::pool", "hidden",
                concat("dtype ", name_of(hidden.dtype()), ", rank ", hidden.rank_found(), ", ", hidden.extent(0),
                       " rows, expected f32 of rank 2 with a row for each of ", batch.tokens(), " tokens"));
  }
  if (hidden.data() == nullptr && hidden.extent(0) != 0 && hidden.extent(1) != 0) {
    throw Error("models::pool", "hidden",
                concat("null pointer, expected memory for ", base::shape_text(hidden.extents().n)));
  }
  const View<const float, 2> rows = hidden.as<const float>();
  const std::ptrdiff_t width = rows.extent(1);
  const std::ptrdiff_t shape[] = {batch.texts(), width};
  Tensor pooled = Tensor::empty(DType::f32, shape, context.memory());
  const View<float, 2> out = pooled.view<float, 2>();
  std::vector<double> sum(static_cast<std::size_t>(width));
  for (std::ptrdiff_t n = 0; n < batch.texts(); ++n) {
    const std::ptrdiff_t first = batch.starts()[static_cast<std::size_t>(n)];
    const std::ptrdiff_t end = batch.starts()[static_cast<std::size_t>(n) + 1];
    const std::ptrdiff_t last = pooling == Pooling::cls ? std::min(first + 1, end) : end;
    sum.assign(sum.size(), 0.0);
    for (std::ptrdiff_t i = first; i < last; ++i) {
      for (std::ptrdiff_t j = 0; j < width; ++j) sum[static_cast<std::size_t>(j)] += static_cast<double>(rows(i, j));
    }
    const auto count = static_cast<double>(std::max<std::ptrdiff_t>(last - first, 1));
    for (std::ptrdiff_t j = 0; j < width; ++j) out(n, j) = static_cast<float>(sum[static_cast<std::size_t>(j)] / count);
  }
  return pooled;
}

Embeddings embed(const BertModel& model, std::span<const std::string> texts, const EmbedOptions& options,
                 Context& context) {
  check_options(model, options);
  const io::Tokenizer& tokenizer = model.tokenizer();
  const io::EncodeOptions encoding_options{.max_tokens = static_cast<std::size_t>(model.max_seq_length())};
  const std::ptrdiff_t width = model.config().hidden_size;
  const std::ptrdiff_t shape[] = {static_cast<std::ptrdiff_t>(texts.size()), width};
  Embeddings result;
  result.values = Tensor::empty(DType::f32, shape, context.memory());
  const View<float, 2> rows = result.values.view<float, 2>();

  TokenBatch batch;
  std::ptrdiff_t done = 0;
  const auto run_batch = [&] {
    const Tensor pooled = pool(model.forward(batch, context), batch, model.sentence_settings().pooling, context);
    const std::span<const float> values = pooled.values<float>();
    std::copy(values.begin(), values.end(), &rows(done, 0));
    done += batch.texts();
    batch = TokenBatch();
    if (options.progress) options.progress(static_cast<std::size_t>(done), texts.size());
  };
  std::vector<io::Encoding> encodings(std::min(texts.size(), kTextsAtOnce));
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (i % kTextsAtOnce == 0) {
      const auto count = static_cast<std::ptrdiff_t>(std::min(kTextsAtOnce, texts.size() - i));
      parallel_for(
          count,
          [&](std::ptrdiff_t n) {
            const auto at = static_cast<std::size_t>(n);
            encodings[at] = tokenizer.encode(texts[i + at], encoding_options);
          },
          context);
    }
    const io::Encoding& encoding = encodings[i % kTextsAtOnce];
    if (encoding.cut) result.cut.push_back(i);
    if (encoding.replaced_invalid_utf8) result.replaced_invalid.push_back(i);
    const std::ptrdiff_t together = batch.tokens() + static_cast<std::ptrdiff_t>(encoding.ids.size());
    if (batch.texts() > 0 && together > options.batch_tokens) run_batch();
    batch.add(encoding);
  }
  if (batch.texts() > 0) run_batch();
  normalise_rows(rows);
  return result;
}

}  // namespace attn::models
