// SPDX-License-Identifier: Apache-2.0
#include "draw/page_values.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

#include "base/convert.hpp"

namespace attn::draw {
namespace {

template <class F>
void for_each_value(In<2> values, F&& f) {
  for (std::ptrdiff_t i = 0; i < values.extent(0); ++i) {
    for (std::ptrdiff_t j = 0; j < values.extent(1); ++j) {
      f(base::load_as<double>(values.dtype(), values.data(), i * values.stride(0) + j * values.stride(1)));
    }
  }
}

// Three bytes become four characters; what is left at the end is padded with '='.
class Base64 {
 public:
  explicit Base64(std::string& text) : text_(text) {}

  void put(std::uint8_t byte) {
    bits_ = bits_ << 8 | byte;
    if (++held_ == 3) flush();
  }
  void finish() {
    if (held_ == 0) return;
    const int missing = 3 - held_;
    bits_ <<= 8 * missing;
    flush();
    text_.replace(text_.size() - static_cast<std::size_t>(missing), std::string::npos, missing == 2 ? "==" : "=");
  }

 private:
  void flush() {
    constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (int shift = 18; shift >= 0; shift -= 6) text_ += kDigits[bits_ >> shift & 63u];
    bits_ = 0;
    held_ = 0;
  }

  std::string& text_;
  std::uint32_t bits_ = 0;
  int held_ = 0;
};

}  // namespace

void include(ValueRange& range, In<2> values) noexcept {
  for_each_value(values, [&range](double x) {
    if (!std::isfinite(x)) return;
    range.min = std::min(range.min, x);
    range.max = std::max(range.max, x);
  });
}

// The range is divided before it is subtracted, since the difference of two large numbers may overflow. Where all
// values are nought, or so close to it that a step would be subnormal, any step serves.
ValueCodes::ValueCodes(const ValueRange& range) noexcept
    : low_(range.min), step_(range.max / kLastCode - range.min / kLastCode) {
  if (step_ < std::numeric_limits<double>::min()) step_ = 1.0 / kLastCode;
}

std::uint16_t ValueCodes::code(double x) const noexcept {
  if (std::isnan(x)) return kNan;
  if (std::isinf(x)) return x < 0 ? kMinusInfinity : kInfinity;
  const double steps = std::nearbyint(x / step_ - low_ / step_);
  return static_cast<std::uint16_t>(std::clamp(steps, 0.0, static_cast<double>(kLastCode)));
}

void append_codes(std::string& text, In<2> values, const ValueCodes& codes) {
  Base64 base64(text);
  for_each_value(values, [&](double x) {
    const std::uint16_t code = codes.code(x);
    base64.put(static_cast<std::uint8_t>(code & 0xffu));
    base64.put(static_cast<std::uint8_t>(code >> 8));
  });
  base64.finish();
}

}  // namespace attn::draw
