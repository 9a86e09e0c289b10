// SPDX-License-Identifier: Apache-2.0
#include <attn/attention_backward.hpp>
#include <attn/autograd/attention.hpp>
#include <attn/error.hpp>
#include <memory>

#include "autograd/attention_options.hpp"
#include "autograd/dense.hpp"
#include "autograd/shape_views.hpp"
#include "base/concat.hpp"

namespace attn::autograd {
namespace {

// Some of the heads that stand side by side in tokens (batch, tokens, features), as (batch, heads, tokens, dim).
Tensor heads_of(const Tensor& t, std::ptrdiff_t first, std::ptrdiff_t count, std::ptrdiff_t dim) {
  const std::ptrdiff_t features = t.extent(2);
  const std::ptrdiff_t shape[] = {t.extent(0), count, t.extent(1), dim};
  const std::ptrdiff_t strides[] = {t.extent(1) * features, dim, features, 1};
  return viewed(t, first * dim, shape, strides);
}

struct Heads {
  std::ptrdiff_t heads, kv_heads, dim;

  Tensor q(const Tensor& x) const { return heads_of(x, 0, heads, dim); }
  Tensor k(const Tensor& x) const { return heads_of(x, heads, kv_heads, dim); }
  Tensor v(const Tensor& x) const { return heads_of(x, heads + kv_heads, kv_heads, dim); }
  Tensor out(const Tensor& y) const { return heads_of(y, 0, heads, dim); }
};

}  // namespace

Variable self_attention(const Variable& x, std::ptrdiff_t heads, std::ptrdiff_t kv_heads,
                        const AttentionOptions& options, Context& context) {
  check_operand("self_attention", "x", x.value());
  const std::ptrdiff_t all = heads + 2 * kv_heads;
  if (heads < 1 || kv_heads < 1 || heads % kv_heads != 0 || x.value().rank() != 3 || x.extent(2) % all != 0) {
    throw Error("self_attention", "x",
                base::concat("shape ", base::shape_text(x.shape()), ", expected (batch, tokens, a multiple of ", all,
                             ") for ", heads, " + 2 * ", kv_heads, " heads"));
  }
  const Heads h{heads, kv_heads, x.extent(2) / all};
  const Tensor qkv = dense(x.value(), x.dtype(), context);
  const std::ptrdiff_t shape[] = {x.extent(0), x.extent(1), heads * h.dim};
  const std::ptrdiff_t lse_shape[] = {x.extent(0), heads, x.extent(1)};
  const Tensor y = Tensor::empty(x.dtype(), shape, context.memory());
  Tensor lse = Tensor::empty(computed_in(x.dtype()), lse_shape, context.memory()), out = h.out(y);
  attn::attention(h.q(qkv), KeyValue(h.k(qkv), h.v(qkv)), AttentionOutputs{.out = out, .lse = lse}, options, context);
  if (!x.needs_grad() || !is_recording()) return Variable(y);
  const auto owned = std::make_shared<OwnedOptions>(options);
  return record("self_attention", {x}, y, [h, owned, qkv, y, lse](const Tensor& grad, Context& c) {
    const Tensor dy = dense(grad, grad.dtype(), c), dx = Tensor::empty(qkv.dtype(), qkv.shape(), c.memory());
    Tensor dq = h.q(dx), dk = h.k(dx), dv = h.v(dx);
    const Tensor q = h.q(qkv), k = h.k(qkv), v = h.v(qkv), of_y = h.out(y), of_dy = h.out(dy);
    attention_backward(AttentionOutputGrads{.out = of_dy},
                       AttentionSaved{.q = q, .k = k, .v = v, .out = of_y, .lse = lse},
                       AttentionGrads{.dq = dq, .dk = dk, .dv = dv}, owned->options, c);
    return std::vector{dx};
  });
}

}  // namespace attn::autograd
