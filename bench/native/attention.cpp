// SPDX-License-Identifier: Apache-2.0
#include <attn/attention.hpp>
#include <string>

#include "native/calls.hpp"
#include "native/context.hpp"
#include "native/guard.hpp"

namespace {

struct Call {
  attn::In<4> q, k, v;
  attn::Out<4> out;
  attn::AttentionOptions options;
};

attn::Extents<4> extents(std::int64_t batch, std::int64_t heads, std::int64_t tokens, std::int64_t dim) {
  return {batch, heads, tokens, dim};
}

attn::In<4> in(attn::DType dtype, const void* data, const attn::Extents<4>& e) {
  return {dtype, data, e, attn::row_major(e)};
}

Call make_call(const BenchAttention& c) {
  const auto dtype = static_cast<attn::DType>(c.dtype);
  const attn::Extents<4> out = extents(c.batch, c.heads, c.queries, c.value_dim);
  Call call{.q = in(dtype, c.q, extents(c.batch, c.heads, c.queries, c.dim)),
            .k = in(dtype, c.k, extents(c.batch, c.kv_heads, c.keys, c.dim)),
            .v = in(dtype, c.v, extents(c.batch, c.kv_heads, c.keys, c.value_dim)),
            .out = attn::Out<4>(dtype, c.out, out, attn::row_major(out)),
            .options = {.align = attn::Align::bottom_right()}};
  attn::Mask& mask = call.options.mask;
  if (c.is_causal != 0) mask = attn::Mask::causal();
  if (c.window_left >= 0) mask = mask & attn::Mask::window(c.window_left, 0);
  if (c.keep != nullptr) mask = mask & attn::Mask::keep(attn::view(c.keep, 1, 1, c.queries, c.keys));
  if (c.bias != nullptr) call.options.bias = attn::view(c.bias, 1, 1, c.queries, c.keys);
  return call;
}

}  // namespace

BENCH_API int bench_attention(const BenchAttention* c) {
  return bench::guarded([&] {
    const Call call = make_call(*c);
    attn::attention(call.q, call.k, call.v, call.out, call.options, bench::context_of(c->threads));
  });
}

// "KERNEL, ISA, tiles of QUERIES x KEYS".
BENCH_API const char* bench_describe(const BenchAttention* c) {
  static std::string text;
  text.clear();
  bench::guarded([&] {
    const Call call = make_call(*c);
    const attn::Description d = attn::describe_attention(call.q, attn::KeyValue(call.k, call.v), {.out = call.out},
                                                         call.options, bench::context_of(c->threads));
    text = d.kernel + ", " + d.isa + ", tiles of " + std::to_string(d.tile_q) + " x " + std::to_string(d.tile_k);
  });
  return text.c_str();
}
