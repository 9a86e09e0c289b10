// SPDX-License-Identifier: Apache-2.0
// A view of an Eigen temporary that owns its memory would dangle.
#include <Eigen/Core>
#include <attn/attention.hpp>

float f(const Eigen::MatrixXf& a) {
  const Eigen::MatrixXf transposed = a.transpose();
  float x = attn::as_view(transposed)(0, 0);
#ifdef ATTN_MISTAKE
  x += attn::as_view(a.transpose().eval())(0, 0);
#endif
  return x;
}
