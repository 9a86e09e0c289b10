// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/any_view.hpp>
#include <attn/draw/value_range.hpp>
#include <cstdint>
#include <string>

namespace attn::draw {

// Widens `range` to hold all finite values.
void include(ValueRange& range, In<2> values) noexcept;

// How a page stores a value: code c <= kLastCode stands for low + c * step; the codes after it for -inf, inf and NaN.
class ValueCodes {
 public:
  static constexpr std::uint16_t kLastCode = 65532, kMinusInfinity = 65533, kInfinity = 65534, kNan = 65535;

  explicit ValueCodes(const ValueRange& range) noexcept;

  double low() const noexcept { return low_; }
  double step() const noexcept { return step_; }
  // The nearest code of x, which lies in the range or is not finite.
  std::uint16_t code(double x) const noexcept;

 private:
  double low_, step_;
};

// Appends the codes of `values`, row by row, little endian, in base64 (RFC 4648, section 4).
void append_codes(std::string& text, In<2> values, const ValueCodes& codes);

}  // namespace attn::draw
