// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/view.hpp>
#include <cmath>
#include <functional>
#include <numeric>
#include <vector>

namespace usage {

// Numbers that a user might have: 0.1 * (3 i mod 17) - 0.8, ...
inline std::vector<float> numbers(std::ptrdiff_t count, int step = 3) {
  std::vector<float> x(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = 0.1f * static_cast<float>(i * static_cast<std::size_t>(step) % 17) - 0.8f;
  }
  return x;
}

using Visible = std::function<bool(std::ptrdiff_t b, std::ptrdiff_t i, std::ptrdiff_t j)>;

// The most that `out` differs from softmax(scale * q k^T) v, written out as the formula says. q, k, v and out are views
// of (batch, head, token, dim); scale 0 stands for 1 / sqrt(dim).
inline double error_of(attn::View<const float, 4> q, attn::View<const float, 4> k, attn::View<const float, 4> v,
                       attn::View<const float, 4> out, const Visible& visible = {}, double scale = 0) {
  if (scale == 0) scale = 1 / std::sqrt(static_cast<double>(q.extent(3)));
  const std::ptrdiff_t group = q.extent(1) / k.extent(1);
  double error = 0;
  for (std::ptrdiff_t b = 0; b < q.extent(0); ++b) {
    for (std::ptrdiff_t h = 0; h < q.extent(1); ++h) {
      for (std::ptrdiff_t i = 0; i < q.extent(2); ++i) {
        std::vector<double> weights;
        for (std::ptrdiff_t j = 0; j < k.extent(2); ++j) {
          double dot = 0;
          for (std::ptrdiff_t d = 0; d < q.extent(3); ++d) {
            dot += static_cast<double>(q(b, h, i, d)) * static_cast<double>(k(b, h / group, j, d));
          }
          weights.push_back(visible && !visible(b, i, j) ? 0 : std::exp(scale * dot));
        }
        const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
        for (std::ptrdiff_t d = 0; d < v.extent(3); ++d) {
          double y = 0;
          for (std::ptrdiff_t j = 0; j < k.extent(2); ++j) {
            y += weights[static_cast<std::size_t>(j)] / sum * static_cast<double>(v(b, h / group, j, d));
          }
          error = std::max(error, std::abs(y - static_cast<double>(out(b, h, i, d))));
        }
      }
    }
  }
  return error;
}

constexpr double kRounding = 3e-6;

}  // namespace usage
