// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace attn::train {

// What can be said of the next token by counting: trigrams, smoothed by interpolated absolute discounting (Ney, Essen
// and Kneser 1994) down to single tokens, which are smoothed by adding one. The figure that a neural model has to beat.
class Trigrams {
 public:
  // Ids are below `vocabulary`; a text begins with an id that is never told.
  explicit Trigrams(std::ptrdiff_t vocabulary) : vocabulary_(vocabulary) {}
  void learn(std::span<const std::int32_t> text);
  // The chance of text[place], given the two tokens before it; place is 1 or more.
  double chance(std::span<const std::int32_t> text, std::size_t place) const;

 private:
  using Context = std::vector<std::int32_t>;  // up to two tokens
  struct Counts {
    std::int64_t all = 0;
    std::map<std::int32_t, std::int64_t> next;
  };
  double smoothed(const Context& context, std::int32_t token) const;
  std::ptrdiff_t vocabulary_;
  std::map<Context, Counts> counts_;
};

}  // namespace attn::train
