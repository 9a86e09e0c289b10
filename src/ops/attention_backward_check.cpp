// SPDX-License-Identifier: Apache-2.0
#include "ops/attention_backward_check.hpp"

#include "ops/attention_check.hpp"
#include "ops/attention_plan.hpp"
#include "ops/view_check.hpp"

namespace attn::ops {
namespace {

using base::concat;

// Of a result of the forward call, or of its derivative.
template <int R>
void check_result(const char* function, const char* name, const In<R>& view, const Extents<R>& expected) {
  check_floating(function, name, view);
  check_extents(function, name, view, expected, R == 4 ? "as in q, with the head dim of v" : "as in q");
}

template <int R>
void check_grad(const char* function, const char* name, const Out<R>& grad, const Extents<R>& expected,
                const char* meaning) {
  if (!grad.wanted()) return;
  check_floating(function, name, grad);
  check_extents(function, name, grad, expected, meaning);
}

}  // namespace

void check_backward(const char* function, const AttentionOutputGrads& output_grads, const AttentionSaved& saved,
                    const AttentionGrads& grads, const AttentionOptions& options) {
  check_operands(function, saved.q, saved.k, saved.v);
  const Extents<4>& q = saved.q.extents();
  const Extents<4> out{q[0], q[1], q[2], saved.v.extent(3)};
  const Extents<3> lse{q[0], q[1], q[2]};
  if (!saved.out.wanted()) throw Error(function, "out", "not given, expected what the forward call gave");
  check_result(function, "out", saved.out, out);
  if (!saved.lse.wanted()) throw Error(function, "lse", "not given, expected what the forward call gave");
  check_result(function, "lse", saved.lse, lse);
  const DType compute = compute_dtype(saved.q.dtype(), saved.k.dtype(), saved.v.dtype());
  if (saved.lse.dtype() != compute) {
    throw Error(function, "lse", concat("dtype ", name_of(saved.lse.dtype()), ", expected ", name_of(compute)));
  }
  if (!output_grads.out.wanted() && !output_grads.lse.wanted()) {
    throw Error(function, "grad_out", "not given, expected it or the derivative by lse");
  }
  if (output_grads.out.wanted()) check_result(function, "grad_out", output_grads.out, out);
  if (output_grads.lse.wanted()) check_result(function, "grad_lse", output_grads.lse, lse);
  if (!grads.dq.wanted() && !grads.dk.wanted() && !grads.dv.wanted() && !grads.dbias.wanted() &&
      !grads.dsink.wanted()) {
    throw Error(function, "grads", "nothing asked for, expected at least one of dq, dk, dv, dbias and dsink");
  }
  if (grads.write != GradWrite::overwrite && grads.write != GradWrite::add) {
    throw Error(function, "grads.write", concat(static_cast<int>(grads.write), ", expected overwrite or add"));
  }
  check_grad(function, "dq", grads.dq, q, "as in q");
  check_grad(function, "dk", grads.dk, saved.k.extents(), "as in k");
  check_grad(function, "dv", grads.dv, saved.v.extents(), "as in v");
  if (grads.dbias.wanted() && !options.bias.wanted()) throw Error(function, "dbias", "asked for, but there is no bias");
  if (grads.dsink.wanted() && !options.sink.wanted()) throw Error(function, "dsink", "asked for, but there is no sink");
  check_grad(function, "dbias", grads.dbias, options.bias.extents(), "as in bias");
  check_grad(function, "dsink", grads.dsink, options.sink.extents(), "as in sink");
}

}  // namespace attn::ops
