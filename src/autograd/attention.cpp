// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
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

// (batch, heads, tokens, dim) laid out (batch, tokens, heads, dim), as a projection writes it.
Tensor by_tokens(DType dtype, std::ptrdiff_t batch, std::ptrdiff_t heads, std::ptrdiff_t tokens, std::ptrdiff_t dim,
                 Context& context) {
  const std::ptrdiff_t shape[] = {batch, tokens, heads, dim};
  constexpr int kOrder[] = {0, 2, 1, 3};
  return permuted(Tensor::empty(dtype, shape, context.memory()), kOrder);
}

// Everything that the backward reads.
struct Call {
  explicit Call(const AttentionOptions& given) : owned(given) {}

  OwnedOptions owned;
  Tensor q, k, v, bias, sink, out, lse;
  bool q_needs = false, k_needs = false, v_needs = false, bias_needs = false, sink_needs = false;

  std::vector<Tensor> backward(const Tensor& grad, Context& context) const {
    const auto like = [&](bool is_needed, const Tensor& t) {
      if (!is_needed) return Tensor();
      return by_tokens(t.dtype(), t.extent(0), t.extent(1), t.extent(2), t.extent(3), context);
    };
    const auto plain = [&](bool is_needed, const Tensor& t) {
      return is_needed ? Tensor::empty(t.dtype(), t.shape(), context.memory()) : Tensor();
    };
    std::vector<Tensor> grads{like(q_needs, q), like(k_needs, k), like(v_needs, v), plain(bias_needs, bias),
                              plain(sink_needs, sink)};
    AttentionGrads wanted;
    if (q_needs) wanted.dq = grads[0];
    if (k_needs) wanted.dk = grads[1];
    if (v_needs) wanted.dv = grads[2];
    if (bias_needs) wanted.dbias = grads[3];
    if (sink_needs) wanted.dsink = grads[4];
    attention_backward(AttentionOutputGrads{.out = grad},
                       AttentionSaved{.q = q, .k = k, .v = v, .out = out, .lse = lse}, wanted, owned.options, context);
    return grads;
  }
};

// `given` with bias and sink from the variables.
AttentionOptions joined(const AttentionInputs& inputs, const AttentionOptions& given) {
  AttentionOptions options = given;
  if (inputs.bias.has_value()) {
    if (given.bias.wanted()) throw Error("attention", "bias", "given twice, expected in inputs or in options");
    options.bias = inputs.bias.value();
  }
  if (inputs.sink.has_value()) {
    if (given.sink.wanted()) throw Error("attention", "sink", "given twice, expected in inputs or in options");
    options.sink = inputs.sink.value();
  }
  return options;
}

void check_rank(std::string_view argument, const Variable& x) {
  if (x.value().rank() != 4) {
    throw Error("attention", argument,
                base::concat("shape ", base::shape_text(x.shape()), ", expected (batch, heads, tokens, dim)"));
  }
}

}  // namespace

Variable attention(const AttentionInputs& inputs, const AttentionOptions& options, Context& context) {
  check_rank("q", inputs.q);
  check_rank("k", inputs.k);
  check_rank("v", inputs.v);
  const Tensor &q = inputs.q.value(), &k = inputs.k.value(), &v = inputs.v.value();
  const bool is_wide = q.dtype() == DType::f64 || k.dtype() == DType::f64 || v.dtype() == DType::f64;
  Tensor out = by_tokens(q.dtype(), q.extent(0), q.extent(1), q.extent(2), v.extent(3), context);
  const std::ptrdiff_t lse_shape[] = {q.extent(0), q.extent(1), q.extent(2)};
  Tensor lse = Tensor::empty(is_wide ? DType::f64 : DType::f32, lse_shape, context.memory());
  const AttentionOptions all = joined(inputs, options);
  attn::attention(q, KeyValue(k, v), AttentionOutputs{.out = out, .lse = lse}, all, context);

  std::vector<Variable> differentiable{inputs.q, inputs.k, inputs.v, inputs.bias, inputs.sink};
  const auto needs = [](const Variable& x) { return x.needs_grad(); };
  if (!is_recording() || std::none_of(differentiable.begin(), differentiable.end(), needs)) return Variable(out);
  const auto call = std::make_shared<Call>(all);
  call->q = q;
  call->k = k;
  call->v = v;
  call->bias = inputs.bias.value();
  call->sink = inputs.sink.value();
  call->out = out;
  call->lse = lse;
  call->q_needs = inputs.q.needs_grad();
  call->k_needs = inputs.k.needs_grad();
  call->v_needs = inputs.v.needs_grad();
  call->bias_needs = inputs.bias.needs_grad();
  call->sink_needs = inputs.sink.needs_grad();
  return record("attention", std::move(differentiable), out,
                [call](const Tensor& grad, Context& c) { return call->backward(grad, c); });
}

}  // namespace attn::autograd
