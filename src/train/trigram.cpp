// SPDX-License-Identifier: Apache-2.0
#include "train/trigram.hpp"

#include <algorithm>

namespace attn::train {
namespace {

constexpr double kDiscount = 0.75;

}  // namespace

void Trigrams::learn(std::span<const std::int32_t> text) {
  for (std::size_t place = 1; place < text.size(); ++place) {
    for (std::size_t seen = 0; seen <= std::min<std::size_t>(place, 2); ++seen) {
      Counts& counts = counts_[Context(text.begin() + static_cast<std::ptrdiff_t>(place - seen),
                                       text.begin() + static_cast<std::ptrdiff_t>(place))];
      ++counts.all;
      ++counts.next[text[place]];
    }
  }
}

double Trigrams::chance(std::span<const std::int32_t> text, std::size_t place) const {
  const std::size_t seen = std::min<std::size_t>(place, 2);
  return smoothed(Context(text.begin() + static_cast<std::ptrdiff_t>(place - seen),
                          text.begin() + static_cast<std::ptrdiff_t>(place)),
                  text[place]);
}

double Trigrams::smoothed(const Context& context, std::int32_t token) const {
  const auto found = counts_.find(context);
  const Counts none;
  const Counts& counts = found == counts_.end() ? none : found->second;
  const auto next = counts.next.find(token);
  const double count = next == counts.next.end() ? 0 : static_cast<double>(next->second);
  const double all = static_cast<double>(counts.all);
  if (context.empty()) return (count + 1) / (all + static_cast<double>(vocabulary_));
  const double shorter = smoothed(Context(context.begin() + 1, context.end()), token);
  if (counts.all == 0) return shorter;
  const double kept = kDiscount * static_cast<double>(counts.next.size()) / all;
  return std::max(count - kDiscount, 0.0) / all + kept * shorter;
}

}  // namespace attn::train
