// SPDX-License-Identifier: Apache-2.0
#include <attn/attention.hpp>
#include <attn/attention_backward.hpp>
#include <string>

#include "native/calls.hpp"
#include "native/context.hpp"
#include "native/guard.hpp"

namespace {

struct Call {
  attn::In<4> q, k, v;
  attn::Out<4> out;
  attn::Out<3> lse;
  attn::AttentionOptions options;

  attn::AttentionOutputs outputs() const { return {.out = out, .lse = lse}; }
};

attn::Extents<4> extents(std::int64_t batch, std::int64_t heads, std::int64_t tokens, std::int64_t dim) {
  return {batch, heads, tokens, dim};
}

attn::In<4> in(attn::DType dtype, const void* data, const attn::Extents<4>& e) {
  return {dtype, data, e, attn::row_major(e)};
}
attn::Out<4> out(attn::DType dtype, void* data, const attn::Extents<4>& e) {
  return {dtype, data, e, attn::row_major(e)};
}

Call make_call(const BenchAttention& c) {
  const auto dtype = static_cast<attn::DType>(c.dtype);
  Call call{.q = in(dtype, c.q, extents(c.batch, c.heads, c.queries, c.dim)),
            .k = in(dtype, c.k, extents(c.batch, c.kv_heads, c.keys, c.dim)),
            .v = in(dtype, c.v, extents(c.batch, c.kv_heads, c.keys, c.value_dim)),
            .out = out(dtype, c.out, extents(c.batch, c.heads, c.queries, c.value_dim)),
            .lse = {},
            .options = {.align = attn::Align::bottom_right()}};
  attn::Mask& mask = call.options.mask;
  if (c.is_causal != 0) mask = attn::Mask::causal();
  if (c.window_left >= 0) mask = mask & attn::Mask::window(c.window_left, 0);
  if (c.keep != nullptr) mask = mask & attn::Mask::keep(attn::view(c.keep, 1, 1, c.queries, c.keys));
  if (c.lse != nullptr) call.lse = attn::view(c.lse, c.batch, c.heads, c.queries);
  if (c.bias != nullptr) call.options.bias = attn::view(c.bias, 1, 1, c.queries, c.keys);
  return call;
}

}  // namespace

BENCH_API int bench_attention(const BenchAttention* c) {
  return bench::guarded([&] {
    const Call call = make_call(*c);
    attn::attention(call.q, call.k, call.v, call.outputs(), call.options, bench::context_of(c->threads));
  });
}

BENCH_API int bench_backward(const BenchBackward* c) {
  return bench::guarded([&] {
    const Call call = make_call(c->forward);
    const attn::In<4> grad_out = in(call.out.dtype(), c->grad_out, call.out.extents());
    attn::attention_backward(grad_out, {.q = call.q, .k = call.k, .v = call.v, .out = call.out, .lse = call.lse},
                             {.dq = out(call.q.dtype(), c->dq, call.q.extents()),
                              .dk = out(call.k.dtype(), c->dk, call.k.extents()),
                              .dv = out(call.v.dtype(), c->dv, call.v.extents())},
                             call.options, bench::context_of(c->forward.threads));
  });
}

// "KERNEL, ISA, tiles of QUERIES x KEYS".
BENCH_API const char* bench_describe(const BenchAttention* c) {
  static std::string text;
  text.clear();
  bench::guarded([&] {
    const Call call = make_call(*c);
    const attn::Description d = attn::describe_attention(call.q, attn::KeyValue(call.k, call.v), call.outputs(),
                                                         call.options, bench::context_of(c->threads));
    text = d.kernel + ", " + d.isa + ", tiles of " + std::to_string(d.tile_q) + " x " + std::to_string(d.tile_k);
  });
  return text.c_str();
}
