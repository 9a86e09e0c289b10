// SPDX-License-Identifier: Apache-2.0
#include "train/text_rows.hpp"

#include <algorithm>

#include "kernels/philox.hpp"
#include "train/tasks.hpp"

namespace attn::train {

TextRow row_of(const std::vector<std::string>& tokens, const Lexicon& lexicon, const Recipe& recipe) {
  const auto count = std::min(tokens.size(), static_cast<std::size_t>(recipe.model.max_tokens));
  const auto streams = streams_of(tokens, recipe.tokens.kind);
  TextRow row;
  for (std::size_t s = 0; s < kStreams; ++s) {
    row.ids[s] = lexicon.vocabularies[s].encode_tokens(std::span(streams[s]).first(count));
    if (row.ids[s].empty()) row.ids[s].push_back(Vocabulary::kUnknown);
  }
  return row;
}

std::vector<std::size_t> cuts_of(const std::vector<std::string>& tokens, std::size_t max_tokens) {
  constexpr std::array<std::string_view, 7> kMarks{"。", "，", "；", "！", "？", "、", "："};
  std::vector<std::size_t> cuts;
  std::size_t begin = 0;
  while (tokens.size() - begin > max_tokens) {
    std::size_t cut = begin + max_tokens;
    while (cut > begin + max_tokens / 2 && std::find(kMarks.begin(), kMarks.end(), tokens[cut - 1]) == kMarks.end()) {
      --cut;
    }
    if (cut == begin + max_tokens / 2) cut = begin + max_tokens;
    cuts.push_back(cut);
    begin = cut;
  }
  cuts.push_back(tokens.size());
  return cuts;
}

std::vector<std::ptrdiff_t> lengths_of(const std::vector<TextRow>& rows) {
  std::vector<std::ptrdiff_t> lengths;
  for (const TextRow& row : rows) lengths.push_back(row.tokens());
  return lengths;
}

models::TextBatch batch_of(const std::vector<TextRow>& rows, const Batch& batch) {
  models::TextBatch result;
  for (std::size_t s = 0; s < kStreams; ++s) {
    std::vector<std::vector<std::int32_t>> ids;
    for (const std::size_t item : batch) ids.push_back(rows[item].ids[s]);
    result.ids.push_back(padded(ids, Vocabulary::kPadding));
  }
  for (const std::size_t item : batch) result.lengths.push_back(static_cast<std::int32_t>(rows[item].tokens()));
  return result;
}

models::TextBatch batch_of(const std::vector<TextRow>& rows, const Batch& batch, double p, nn::DropoutStream* dropout) {
  models::TextBatch result = batch_of(rows, batch);
  if (p == 0 || dropout == nullptr) return result;
  const Dropout next = dropout->next(p);
  const kernels::DropoutRule rule(next.p, next.seed, next.offset);
  for (std::size_t s = 0; s < kStreams; ++s) {
    const auto ids = result.ids[s].view<std::int32_t, 2>();
    for (std::ptrdiff_t b = 0; b < ids.extent(0); ++b) {
      for (std::ptrdiff_t t = 0; t < result.lengths[static_cast<std::size_t>(b)]; ++t) {
        if (!rule.keeps(0, static_cast<std::ptrdiff_t>(s), b, t)) ids(b, t) = Vocabulary::kUnknown;
      }
    }
  }
  return result;
}

Tensor targets_of(const std::vector<TextRow>& rows, const Batch& batch) {
  std::vector<std::vector<std::int32_t>> targets;
  for (const std::size_t item : batch) targets.push_back(rows[item].targets);
  return padded(targets, kIgnored);
}

models::TextEncoderShape encoder_shape(const Recipe& recipe, const Lexicon& lexicon) {
  models::TextEncoderShape shape{.max_tokens = recipe.model.max_tokens,
                                 .classes = std::ssize(lexicon.labels),
                                 .transformer = transformer_of(recipe, models::NormPlace::after)};
  for (const Vocabulary& vocabulary : lexicon.vocabularies) shape.vocabularies.push_back(vocabulary.size());
  return shape;
}

}  // namespace attn::train
