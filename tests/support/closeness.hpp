// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string>
#include <vector>

#include "support/attention_cases.hpp"

namespace attn::test {

// What one rounding to a dtype changes at most, relative to the number.
inline double rounding_of(DType t) {
  switch (t) {
    case DType::bf16:
      return 0x1p-8;
    case DType::f16:
      return 0x1p-11;
    case DType::f32:
      return 0x1p-24;
    default:
      return 0x1p-53;
  }
}

inline double largest(const std::vector<double>& values) {
  double most = 0;
  for (const double x : values) most = std::isfinite(x) ? std::max(most, std::abs(x)) : most;
  return most;
}

// How far an output stands from the reference, in the measure of its dtype, and how far it may.
struct OutError {
  double found = 0, allowed = 0;

  // A NaN is never close to anything.
  bool ok() const { return found <= allowed; }
  double share() const { return allowed == 0 ? 0 : found / allowed; }
};

namespace detail {

inline std::string too_far(double found, double allowed, const Tolerance& tolerance) {
  std::ostringstream text;
  text << "error " << found << ", allowed " << allowed << " (" << tolerance.reason << ")";
  return text.str();
}

inline OutError frobenius_error(const std::vector<double>& found, const std::vector<double>& expected, DType dtype,
                                const Tolerance& tolerance) {
  double error = 0, rounding = 0, norm = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    std::uint16_t once = 0;
    base::store_as(dtype, &once, 0, expected[i]);
    const double rounded = base::load_as<double>(dtype, &once, 0);
    error += (found[i] - expected[i]) * (found[i] - expected[i]);
    rounding += (rounded - expected[i]) * (rounded - expected[i]);
    norm += expected[i] * expected[i];
  }
  // Results that happen to be representable leave only the error of the sums.
  return {std::sqrt(error), std::max(tolerance.rounded * std::sqrt(rounding), tolerance.out * std::sqrt(norm))};
}

}  // namespace detail

// bf16, f16: Frobenius error against that of the reference rounded once. f32, f64: largest error against max|out|.
inline OutError out_error(const std::vector<double>& found, const std::vector<double>& expected, DType dtype,
                          const Tolerance& tolerance) {
  if (dtype == DType::bf16 || dtype == DType::f16) return detail::frobenius_error(found, expected, dtype, tolerance);
  OutError error{.allowed = std::max(tolerance.out, rounding_of(dtype)) * largest(expected)};
  for (std::size_t i = 0; i < found.size(); ++i) {
    const double distance = std::abs(found[i] - expected[i]);
    if (!(distance <= error.found)) error.found = distance;  // a NaN stays, since nothing compares with it
  }
  return error;
}

// Why lse, weights or scores are not the reference's; empty when they are. An error of `tolerance.map` times `scale` is
// allowed beside one rounding; -inf is exact.
template <int R>
std::string compare_map(const char* what, const GuardedArray<R>& found, DType dtype,
                        const std::vector<double>& expected, const Tolerance& tolerance, double scale) {
  const std::vector<double> values = found.values();
  if (values.size() != expected.size()) return std::string(what) + ": another size than the reference's";
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] == expected[i]) continue;
    const double subnormal = dtype == DType::f16 ? 0x1p-25 : 0;
    const double allowed = tolerance.map * scale + rounding_of(dtype) * std::abs(expected[i]) + subnormal;
    const double error = std::abs(values[i] - expected[i]);
    if (!(error <= allowed) || std::isinf(expected[i])) {
      std::ostringstream text;
      text << what << ": found " << values[i] << ", expected " << expected[i] << " at " << i << ": "
           << detail::too_far(error, allowed, tolerance);
      return text.str();
    }
  }
  return "";
}

}  // namespace attn::test
