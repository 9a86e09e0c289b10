// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <attn/error.hpp>
#include <attn/train/metrics.hpp>

#include "base/concat.hpp"

namespace attn::train {
namespace {

void check_lengths(const char* where, std::size_t predicted, std::size_t expected) {
  if (predicted == expected) return;
  throw Error(where, "predicted", base::concat(predicted, " values, expected ", expected, " as in expected"));
}

}  // namespace

std::vector<std::int32_t> best_classes(const Tensor& logits) {
  const std::ptrdiff_t classes = logits.extent(-1);
  std::vector<std::int32_t> best;
  const std::span<const float> values = logits.values<float>();
  for (auto row = values.begin(); row != values.end(); row += classes) {
    best.push_back(static_cast<std::int32_t>(std::max_element(row, row + classes) - row));
  }
  return best;
}

double accuracy(std::span<const std::int32_t> predicted, std::span<const std::int32_t> expected) {
  check_lengths("accuracy", predicted.size(), expected.size());
  std::size_t right = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) right += predicted[i] == expected[i];
  return expected.empty() ? 0 : static_cast<double>(right) / static_cast<double>(expected.size());
}

std::vector<Span> spans_of(std::span<const std::string> tags) {
  std::vector<Span> spans;
  bool is_open = false;
  for (std::size_t i = 0; i < tags.size(); ++i) {
    const std::string_view tag = tags[i];
    const auto at = static_cast<std::ptrdiff_t>(i);
    if (tag.starts_with("B-")) {
      spans.push_back({at, at + 1, std::string(tag.substr(2))});
      is_open = true;
    } else if (is_open && tag.starts_with("I-") && tag.substr(2) == spans.back().kind) {
      spans.back().end = at + 1;
    } else {
      is_open = false;
    }
  }
  return spans;
}

void SpanScore::add(std::span<const std::string> predicted_tags, std::span<const std::string> expected_tags) {
  check_lengths("SpanScore::add", predicted_tags.size(), expected_tags.size());
  const std::vector<Span> ours = spans_of(predicted_tags), theirs = spans_of(expected_tags);
  predicted += std::ssize(ours);
  expected += std::ssize(theirs);
  both += std::count_if(ours.begin(), ours.end(),
                        [&](const Span& span) { return std::binary_search(theirs.begin(), theirs.end(), span); });
}

}  // namespace attn::train
