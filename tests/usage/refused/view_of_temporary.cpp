// SPDX-License-Identifier: Apache-2.0
// A view of a temporary tensor would dangle.
#include <attn/attention.hpp>

float f() {
  attn::Tensor t = attn::Tensor::zeros(attn::DType::f32, 1, 2);
  float x = t.view<float, 2>()(0, 1);
#ifdef ATTN_MISTAKE
  x += attn::Tensor::zeros(attn::DType::f32, 1, 2).view<float, 2>()(0, 1);
#endif
  return x;
}
