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

namespace detail {

inline std::string too_far(const char* what, double found, double allowed, const Tolerance& tolerance) {
  std::ostringstream text;
  text << what << " " << found << ", allowed " << allowed << " (" << tolerance.reason << ")";
  return text.str();
}

inline std::string rounded_too_far(const std::vector<double>& found, const std::vector<double>& expected, DType dtype,
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
  const double allowed = std::max(tolerance.rounded * std::sqrt(rounding), tolerance.out * std::sqrt(norm));
  return std::sqrt(error) <= allowed ? "" : too_far("out: Frobenius error", std::sqrt(error), allowed, tolerance);
}

}  // namespace detail

// Why `found` is not the reference's output; empty when it is. A NaN or -inf is never close to anything else.
template <int R>
std::string compare_out(const GuardedArray<R>& found, DType dtype, const std::vector<double>& expected,
                        const Tolerance& tolerance) {
  const std::vector<double> values = found.values();
  if (values.size() != expected.size()) return "out: another size than the reference's";
  if (dtype == DType::bf16 || dtype == DType::f16) {
    return detail::rounded_too_far(values, expected, dtype, tolerance);
  }
  double error = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double distance = std::abs(values[i] - expected[i]);
    if (std::isnan(distance)) return "out: NaN";
    error = std::max(error, distance);
  }
  const double allowed = std::max(tolerance.out, rounding_of(dtype)) * largest(expected);
  return error <= allowed ? "" : detail::too_far("out: error", error, allowed, tolerance);
}

// The same for lse, weights or scores: an error of `tolerance.map` times `scale`, beside one rounding. -inf is exact.
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
           << detail::too_far("error", error, allowed, tolerance);
      return text.str();
    }
  }
  return "";
}

}  // namespace attn::test
