// SPDX-License-Identifier: Apache-2.0
#include "draw/ticks.hpp"

#include <algorithm>
#include <cmath>

#include "draw/matrix.hpp"

namespace attn::draw {

std::ptrdiff_t round_step(double least) {
  for (std::ptrdiff_t power = 1;; power *= 10) {
    for (const std::ptrdiff_t digit : {1, 2, 5}) {
      if (static_cast<double>(digit * power) >= least) return digit * power;
    }
  }
}

std::vector<Tick> ticks_of(const ValueRange& range, double distance) {
  const double span = range.max - range.min;
  // About four intervals, if so many fit.
  const double wanted = std::max(0.2, distance);
  const double unit = std::pow(10, std::floor(std::log10(wanted * span)));
  const double step = static_cast<double>(round_step(wanted * span / unit * (1 - 1e-9))) * unit;
  std::vector<Tick> ticks{{0, number_text(range.min, 3)}};
  const auto first = static_cast<long long>(std::ceil(range.min / step));
  const auto last = static_cast<long long>(std::floor(range.max / step));
  for (long long i = first; i <= last; ++i) {
    const double value = static_cast<double>(i) * step;
    const double place = (value - range.min) / span;
    if (place >= distance && place <= 1 - distance) ticks.push_back({place, number_text(value, 3)});
  }
  ticks.push_back({1, number_text(range.max, 3)});
  return ticks;
}

}  // namespace attn::draw
