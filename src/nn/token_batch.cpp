// SPDX-License-Identifier: Apache-2.0
#include "nn/token_batch.hpp"

#include "base/concat.hpp"
#include "nn/rows.hpp"

namespace attn::nn {
namespace {

// Heads of `dim` features whose first element is at `data`.
template <class AnyView, class Pointer>
AnyView by_heads(const Tensor& t, Pointer data, Layout layout, std::ptrdiff_t heads, std::ptrdiff_t dim) {
  const std::ptrdiff_t features = t.extent(-1);
  if (t.rank() == 2) return {t.dtype(), data, {1, heads, t.extent(0), dim}, {std::ptrdiff_t{0}, dim, features, 1}};
  const std::ptrdiff_t outer = t.extent(1) * features;
  if (layout == Layout::batch_first) {
    return {t.dtype(), data, {t.extent(0), heads, t.extent(1), dim}, {outer, dim, features, 1}};
  }
  return {t.dtype(), data, {t.extent(1), heads, t.extent(0), dim}, {features, dim, outer, 1}};
}

}  // namespace

TokenBatch token_batch(std::string_view where, std::string_view argument, const Input& x, Layout layout,
                       std::ptrdiff_t features) {
  check_numbers(where, argument, x);
  if ((x.rank() != 2 && x.rank() != 3) || x.extent(-1) != features) {
    const char* leading = layout == Layout::batch_first ? "(batch, tokens, " : "(tokens, batch, ";
    throw Error(where, argument,
                base::concat("shape ", base::shape_text(x.shape()), ", expected ", leading, features, ") or (tokens, ",
                             features, ")"));
  }
  if (x.rank() == 2) {
    return {{x.dtype(), x.data(), {1, x.extent(0), features}, {std::ptrdiff_t{0}, x.stride(0), x.stride(1)}}, false};
  }
  const int batch = layout == Layout::batch_first ? 0 : 1, tokens = 1 - batch;
  return {{x.dtype(),
           x.data(),
           {x.extent(batch), x.extent(tokens), features},
           {x.stride(batch), x.stride(tokens), x.stride(2)}},
          true};
}

In<4> heads_of(const Tensor& t, Layout layout, std::ptrdiff_t heads) {
  return by_heads<In<4>>(t, t.data(), layout, heads, t.extent(-1) / heads);
}
In<4> heads_of(const Tensor& t, Layout layout, std::ptrdiff_t heads, std::ptrdiff_t first, std::ptrdiff_t dim) {
  const std::ptrdiff_t at = t.size() == 0 ? 0 : first * static_cast<std::ptrdiff_t>(size_of(t.dtype()));
  return by_heads<In<4>>(t, static_cast<const std::byte*>(t.data()) + at, layout, heads, dim);
}
Out<4> heads_of(Tensor& t, Layout layout, std::ptrdiff_t heads) {
  return by_heads<Out<4>>(t, t.data(), layout, heads, t.extent(-1) / heads);
}

}  // namespace attn::nn
