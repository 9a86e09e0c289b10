// SPDX-License-Identifier: Apache-2.0
#include "kernels/norm.hpp"

#include <attn/norm.hpp>

#include "ops/norm_check.hpp"
#include "ops/row_blocks.hpp"
#include "ops/view_check.hpp"

namespace attn {
namespace {

enum class Norm { layer, rms };

void check(std::string_view where, const In<2>& x, const Out<2>& y, const NormOptions& options) {
  ops::check_floating(where, "x", x);
  ops::check_floating(where, "y", y);
  ops::check_extents(where, "y", y, x.extents(), "as in x");
  ops::check_norm(where, "", options, x.extent(1), "as x's features");
}

template <class T>
void run(Norm norm, const In<2>& x, const Out<2>& y, const NormOptions& options, Context& context) {
  runtime::ScratchPool& pool = runtime::ContextAccess::scratch(context);
  const ops::Parameters<T> weight(options.weight, pool), bias(options.bias, pool);
  const std::int64_t target = runtime::ContextAccess::isa(context).target;
  ops::for_each_row<T>(x, y, context, [&](const T* from, T* to) {
    const kernels::NormRows<T> rows{
        from, 0, to, 0, weight.data(), bias.data(), 1, x.extent(1), static_cast<T>(options.eps)};
    if (norm == Norm::layer) {
      kernels::layer_norm(rows, target);
    } else {
      kernels::rms_norm(rows, target);
    }
  });
}

void normalise(Norm norm, const In<2>& x, const Out<2>& y, const NormOptions& options, Context& context) {
  check(norm == Norm::layer ? "layer_norm" : "rms_norm", x, y, options);
  if (x.dtype() == DType::f64) {
    run<double>(norm, x, y, options, context);
  } else {
    run<float>(norm, x, y, options, context);
  }
}

}  // namespace

void layer_norm(In<2> x, Out<2> y, const NormOptions& options, Context& context) {
  normalise(Norm::layer, x, y, options, context);
}
void rms_norm(In<2> x, Out<2> y, const NormOptions& options, Context& context) {
  normalise(Norm::rms, x, y, options, context);
}

}  // namespace attn
