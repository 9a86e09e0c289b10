// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <attn/attention.hpp>
#include <cmath>
#include <limits>

#include "base/convert.hpp"
#include "ops/view_check.hpp"
#include "runtime/context_access.hpp"

namespace attn {
namespace {

constexpr const char* kName = "merge_states";

struct Merge {
  In<4> out_a, out_b;
  In<3> lse_a, lse_b;
  Out<4> out;
  Out<3> lse;
};

void check(const Merge& m) {
  ops::check_floating(kName, "out_a", m.out_a);
  ops::check_floating(kName, "lse_a", m.lse_a);
  ops::check_floating(kName, "out_b", m.out_b);
  ops::check_floating(kName, "lse_b", m.lse_b);
  ops::check_floating(kName, "out", m.out);
  ops::check_floating(kName, "lse", m.lse);
  const Extents<4>& shape = m.out_a.extents();
  const Extents<3> rows{shape[0], shape[1], shape[2]};
  ops::check_extents(kName, "out_b", m.out_b, shape, "as out_a");
  ops::check_extents(kName, "out", m.out, shape, "as out_a");
  ops::check_extents(kName, "lse_a", m.lse_a, rows, "as out_a has rows");
  ops::check_extents(kName, "lse_b", m.lse_b, rows, "as out_a has rows");
  ops::check_extents(kName, "lse", m.lse, rows, "as out_a has rows");
}

std::ptrdiff_t at(const Extents<4>& s, std::ptrdiff_t b, std::ptrdiff_t h, std::ptrdiff_t i) {
  return b * s[0] + h * s[1] + i * s[2];
}
std::ptrdiff_t at(const Extents<3>& s, std::ptrdiff_t b, std::ptrdiff_t h, std::ptrdiff_t i) {
  return b * s[0] + h * s[1] + i * s[2];
}

void merge_row(const Merge& m, std::ptrdiff_t b, std::ptrdiff_t h, std::ptrdiff_t i) {
  constexpr double kEmpty = -std::numeric_limits<double>::infinity();
  const double a = base::load_as<double>(m.lse_a.dtype(), m.lse_a.data(), at(m.lse_a.strides(), b, h, i));
  const double c = base::load_as<double>(m.lse_b.dtype(), m.lse_b.data(), at(m.lse_b.strides(), b, h, i));
  const double top = a > c ? a : c;  // A NaN in either reaches the sum below.
  const double weight_a = a == kEmpty ? 0 : std::exp(a - top), weight_c = c == kEmpty ? 0 : std::exp(c - top);
  const double sum = weight_a + weight_c;
  const double inverse = sum == 0 ? 0 : 1 / sum;
  base::store_as(m.lse.dtype(), m.lse.data(), at(m.lse.strides(), b, h, i), sum == 0 ? kEmpty : top + std::log(sum));
  const std::ptrdiff_t row_a = at(m.out_a.strides(), b, h, i), row_c = at(m.out_b.strides(), b, h, i);
  const std::ptrdiff_t row = at(m.out.strides(), b, h, i);
  for (std::ptrdiff_t d = 0; d < m.out.extent(3); ++d) {
    const double x = base::load_as<double>(m.out_a.dtype(), m.out_a.data(), row_a + d * m.out_a.stride(3));
    const double y = base::load_as<double>(m.out_b.dtype(), m.out_b.data(), row_c + d * m.out_b.stride(3));
    // A part of weight 0 adds nothing, not even what is not finite in it.
    const double from_a = weight_a == 0 ? 0 : x * (weight_a * inverse);
    const double from_c = weight_c == 0 ? 0 : y * (weight_c * inverse);
    base::store_as(m.out.dtype(), m.out.data(), row + d * m.out.stride(3), from_a + from_c);
  }
}

}  // namespace

void merge_states(In<4> out_a, In<3> lse_a, In<4> out_b, In<3> lse_b, Out<4> out, Out<3> lse, Context& context) {
  const Merge m{.out_a = out_a, .out_b = out_b, .lse_a = lse_a, .lse_b = lse_b, .out = out, .lse = lse};
  check(m);
  const std::ptrdiff_t heads = out.extent(1), queries = out.extent(2);
  runtime::ContextAccess::executor(context).run(out.extent(0) * heads, [&](std::ptrdiff_t task) {
    for (std::ptrdiff_t i = 0; i < queries; ++i) merge_row(m, task / heads, task % heads, i);
  });
}

}  // namespace attn
