// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <attn/draw/colormap.hpp>
#include <attn/error.hpp>
#include <cmath>
#include <string>

namespace attn::draw {
namespace {

constexpr std::string_view kNames[] = {"blues", "hot", "viridis"};

constexpr Rgb kBlues[] = {{247, 251, 255}, {222, 235, 247}, {198, 219, 239}, {158, 202, 225}, {107, 174, 214},
                          {66, 146, 198},  {33, 113, 181},  {8, 81, 156},    {8, 48, 107}};

constexpr Rgb kHot[] = {{0, 0, 0},     {85, 0, 0},    {170, 0, 0},     {255, 0, 0},    {255, 85, 0},
                        {255, 170, 0}, {255, 255, 0}, {255, 255, 128}, {255, 255, 255}};

// Every 15th of the 256 colours of mpl-colormaps: a straight line between them is within 5/255 of the rest.
constexpr Rgb kViridis[] = {{68, 1, 84},    {72, 23, 105},  {71, 42, 122},  {67, 61, 132},  {61, 78, 138},
                            {53, 94, 141},  {46, 109, 142}, {41, 123, 142}, {35, 137, 142}, {31, 151, 139},
                            {33, 165, 133}, {46, 179, 124}, {70, 192, 111}, {101, 203, 94}, {137, 213, 72},
                            {176, 221, 47}, {216, 226, 25}, {253, 231, 37}};

std::uint8_t mix(std::uint8_t a, std::uint8_t b, double t) {
  return static_cast<std::uint8_t>(std::lround(a + t * (b - a)));
}

}  // namespace

Colormap Colormap::blues() noexcept { return {kNames[0], kBlues}; }
Colormap Colormap::hot() noexcept { return {kNames[1], kHot}; }
Colormap Colormap::viridis() noexcept { return {kNames[2], kViridis}; }

std::span<const std::string_view> Colormap::names() noexcept { return kNames; }

Colormap Colormap::named(std::string_view name) {
  for (const Colormap map : {blues(), hot(), viridis()}) {
    if (map.name() == name) return map;
  }
  std::string known;
  for (const std::string_view n : kNames) known.append(known.empty() ? "" : ", ").append(n);
  throw Error("Colormap::named", "name", "found \"" + std::string(name) + "\", expected one of " + known);
}

Rgb Colormap::rgb(double t) const noexcept {
  if (std::isnan(t)) return kNanColour;
  const std::size_t intervals = anchors_.size() - 1;
  const double at = std::clamp(t, 0.0, 1.0) * static_cast<double>(intervals);
  const std::size_t i = std::min(static_cast<std::size_t>(at), intervals - 1);
  const double part = at - static_cast<double>(i);
  const Rgb a = anchors_[i], b = anchors_[i + 1];
  return {mix(a.red, b.red, part), mix(a.green, b.green, part), mix(a.blue, b.blue, part)};
}

}  // namespace attn::draw
