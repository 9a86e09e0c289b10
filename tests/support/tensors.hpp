// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <attn/tensor.hpp>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "support/message.hpp"
#include "support/random.hpp"

namespace attn::test {

// Unit-normal numbers.
template <class T>
std::vector<T> normal_numbers(std::ptrdiff_t count, std::uint64_t seed) {
  Random random(base_seed() + seed);
  std::vector<T> numbers(static_cast<std::size_t>(count));
  for (T& x : numbers) x = static_cast<T>(random.normal());
  return numbers;
}
template <std::integral... I>
Tensor normal_tensor(DType dtype, std::uint64_t seed, I... extents) {
  Tensor t = Tensor::empty(DType::f64, extents...);
  const std::vector<double> numbers = normal_numbers<double>(t.size(), seed);
  std::copy(numbers.begin(), numbers.end(), t.values<double>().begin());
  return t.to(dtype);
}
// The next numbers of a stream, so that several tensors come from one seed.
template <std::integral... I>
Tensor normal_tensor(Random& random, DType dtype, I... extents) {
  Tensor t = Tensor::empty(DType::f64, extents...);
  for (double& x : t.values<double>()) x = random.normal();
  return t.to(dtype);
}

// A tensor of NaN bits, so that an element which nobody writes is seen.
template <std::integral... I>
Tensor poisoned_tensor(DType dtype, I... extents) {
  Tensor t = Tensor::empty(dtype, extents...);
  std::memset(t.data(), 0xFF, static_cast<std::size_t>(t.size()) * size_of(dtype));
  return t;
}

// A row-major copy of a view.
template <int R>
Tensor copy_of(In<R> v) {
  return Tensor::adopt(v.dtype(), const_cast<void*>(v.data()), v.extents().n, v.strides().n, nullptr).clone();
}

// The elements in row-major order.
inline std::vector<double> values_of(const Tensor& t) {
  const Tensor wide = t.to(DType::f64);
  return {wide.values<double>().begin(), wide.values<double>().end()};
}

// The largest distance of two elements; infinite when shapes differ or an element is no number.
inline double largest_difference(const Tensor& a, const Tensor& b) {
  if (!std::equal(a.shape().begin(), a.shape().end(), b.shape().begin(), b.shape().end())) return HUGE_VAL;
  const std::vector<double> x = values_of(a), y = values_of(b);
  double most = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double distance = std::abs(x[i] - y[i]);
    most = std::isnan(distance) ? HUGE_VAL : std::max(most, distance);
  }
  return most;
}

// Whether two contiguous tensors agree in shape, dtype and every bit.
inline bool same_bits(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && std::equal(a.shape().begin(), a.shape().end(), b.shape().begin(), b.shape().end()) &&
         a.is_contiguous() && b.is_contiguous() &&
         (a.size() == 0 ||
          std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.size()) * size_of(a.dtype())) == 0);
}

}  // namespace attn::test
