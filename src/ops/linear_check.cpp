// SPDX-License-Identifier: Apache-2.0
#include "ops/linear_check.hpp"

#include "ops/norm_check.hpp"
#include "ops/view_check.hpp"

namespace attn::ops {

void check_linear(const In<2>& x, const PackedWeight& weight, const Out<2>& y, const LinearOptions& options) {
  constexpr std::string_view kWhere = "linear";
  check_floating(kWhere, "x", x);
  check_floating(kWhere, "y", y);
  const Extents<2> expected(x.extent(0), weight.out_features());
  if (x.extent(1) != weight.in_features()) {
    throw Error(kWhere, "x",
                base::concat(x.extent(1), " features, expected ", weight.in_features(), " as in the weight"));
  }
  check_extents(kWhere, "y", y, expected, "as x's rows by the weight's outputs");
  if (options.bias.wanted()) {
    check_floating(kWhere, "bias", options.bias);
    check_extents(kWhere, "bias", options.bias, {weight.out_features()}, "as the weight's outputs");
  }
  if (options.residual.wanted()) {
    check_floating(kWhere, "residual", options.residual);
    check_extents(kWhere, "residual", options.residual, expected, "as in y");
  }
  if (options.accumulate && weight.storage() == WeightStorage::int8) {
    throw Error(kWhere, "accumulate", "true with an int8 weight, expected false, since its sums are scaled");
  }
  if (options.norm) check_norm(kWhere, "norm.", *options.norm, weight.out_features(), "as the weight's outputs");
}

}  // namespace attn::ops
