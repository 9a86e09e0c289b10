// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/export.hpp>
#include <cstdint>
#include <span>
#include <string_view>

namespace attn::draw {

// A colour in sRGB, 8 bits a channel.
struct Rgb {
  std::uint8_t red = 0, green = 0, blue = 0;
  friend constexpr bool operator==(const Rgb&, const Rgb&) = default;
};

// What NaN is drawn in, with every colour map: a grey that none of them holds.
inline constexpr Rgb kNanColour{160, 160, 160};

// A scale of colours for t in [0, 1]: straight lines in sRGB between evenly spaced anchor colours. A small value type.
class ATTN_API Colormap {
 public:
  // White to dark blue: ColorBrewer's 9-class "Blues" (Brewer, Harrower: ColorBrewer.org).
  static Colormap blues() noexcept;
  // Black, red, yellow, white, each channel rising in turn over 3/8, 3/8 and 2/8 of the scale, as "hot" of MATLAB does.
  static Colormap hot() noexcept;
  // Perceptually even, readable by the colour-blind and in grey (van der Walt and Smith, 2015): 18 of its 256 colours,
  // which were released under CC0.
  static Colormap viridis() noexcept;

  // The map of that name. Throws Error that lists names() for any other.
  static Colormap named(std::string_view name);
  static std::span<const std::string_view> names() noexcept;

  std::string_view name() const noexcept { return name_; }
  // The colour of t; beyond [0, 1] that of the nearer end, for NaN kNanColour.
  Rgb rgb(double t) const noexcept;

 private:
  constexpr Colormap(std::string_view name, std::span<const Rgb> anchors) : name_(name), anchors_(anchors) {}
  std::string_view name_;
  std::span<const Rgb> anchors_;
};

}  // namespace attn::draw
