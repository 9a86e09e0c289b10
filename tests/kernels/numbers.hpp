// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <random>
#include <vector>

namespace attn::kernels {

// Unit-normal numbers from a fixed seed.
template <class T>
std::vector<T> normal_numbers(std::ptrdiff_t count, unsigned seed) {
  std::mt19937 engine(seed);
  std::normal_distribution<double> normal;
  std::vector<T> numbers(static_cast<std::size_t>(count));
  for (T& x : numbers) x = static_cast<T>(normal(engine));
  return numbers;
}

}  // namespace attn::kernels
