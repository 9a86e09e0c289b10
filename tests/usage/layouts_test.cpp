// SPDX-License-Identifier: Apache-2.0
// Programs as users write them: their memory as it lies, seen by strides.
#include <Eigen/Core>
#include <algorithm>
#include <attn/attention.hpp>

#include "gtest/gtest.h"
#include "usage/plain.hpp"

namespace usage {
namespace {

TEST(Layouts, RawPointersOfBatchTokenHeadDim) {
  const std::size_t batch = 2;
  const int tokens = 9;
  const auto q = numbers(2 * 9 * 8 * 16), k = numbers(2 * 9 * 8 * 16, 5), v = numbers(2 * 9 * 8 * 16, 7);
  auto out = numbers(2 * 9 * 8 * 16);

  const attn::Shape s{.batch = std::ptrdiff_t(batch), .tokens = tokens, .heads = 8, .dim = 16};
  attn::attention(attn::from_blhd(q.data(), s), attn::from_blhd(k.data(), s), attn::from_blhd(v.data(), s),
                  attn::from_blhd(out.data(), s));

  EXPECT_LE(error_of(attn::from_blhd(q.data(), s), attn::from_blhd(k.data(), s), attn::from_blhd(v.data(), s),
                     attn::from_blhd(std::as_const(out).data(), s)),
            kRounding);
}

TEST(Layouts, MixedIntegersAndResultsInPlaceOfTheQuery) {
  const std::size_t batch = 2;
  const unsigned tokens = 5;
  auto memory = numbers(2 * 5 * 8 * 64);
  const auto keys = memory;

  attn::View<float, 4> x(memory.data(), {batch, 8, tokens, 64}, {tokens * 512, 64, 512, 1});
  attn::View<const float, 4> k(keys.data(), {batch, 8, tokens, 64}, {tokens * 512, 64, 512, 1});
  attn::attention(x, k, k, x);
  EXPECT_LE(error_of(k, k, k, x), kRounding);

  std::copy(keys.begin(), keys.end(), memory.begin());
  attn::attention({x}, {k}, {k}, {.out = x});
  EXPECT_LE(error_of(k, k, k, x), kRounding);
}

TEST(Layouts, GroupedHeadsFollowFromExtents) {
  const auto q = numbers(2 * 8 * 6 * 16), kv = numbers(2 * 2 * 6 * 16, 5);
  auto out = numbers(2 * 8 * 6 * 16);
  auto query = attn::view(q.data(), 2, 8, 6, 16);
  auto key = attn::view(kv.data(), 2, 2, 6, 16);
  attn::attention(query, key, key, attn::view(out.data(), 2, 8, 6, 16));
  EXPECT_LE(error_of(query, key, key, attn::view(std::as_const(out).data(), 2, 8, 6, 16)), kRounding);
}

TEST(Layouts, SliceOfAFusedProjection) {
  // (B, L, 3, H, D) as one matrix product writes it, without the first token.
  const int batch = 2, tokens = 7;
  auto qkv = numbers(2 * 7 * 3 * 8 * 16);
  auto out = numbers(2 * 6 * 8 * 16);

  auto x = attn::view(qkv.data(), batch, tokens, 3, 8, 16).slice(1, 1, tokens);
  auto part = [&](int i) { return x.select(2, i).transpose(1, 2); };
  auto y = attn::from_blhd(out.data(), {.batch = batch, .tokens = tokens - 1, .heads = 8, .dim = 16});
  attn::attention(part(0), part(1), part(2), y);

  EXPECT_LE(error_of(part(0), part(1), part(2), y), kRounding);
}

// Any type that looks like std::mdspan is taken as it is.
template <class T>
struct Mdspan4 {
  T* p;
  std::ptrdiff_t extents[4], strides[4];
  static constexpr std::size_t rank() { return 4; }
  T* data_handle() const { return p; }
  std::size_t extent(unsigned d) const { return static_cast<std::size_t>(extents[d]); }
  std::ptrdiff_t stride(unsigned d) const { return strides[d]; }
};

TEST(Layouts, Mdspan) {
  const auto numbers_q = numbers(1 * 2 * 4 * 8);
  auto numbers_out = numbers(1 * 2 * 4 * 8);
  const Mdspan4<const float> q{numbers_q.data(), {1, 2, 4, 8}, {64, 8, 16, 1}};
  const Mdspan4<float> out{numbers_out.data(), {1, 2, 4, 8}, {64, 8, 16, 1}};
  attn::attention(q, q, q, out);
  EXPECT_LE(error_of(attn::as_view(q), attn::as_view(q), attn::as_view(q), attn::as_view(out)), kRounding);
}

TEST(Layouts, EigenMatrices) {
  const Eigen::MatrixXf x = Eigen::MatrixXf::Random(10, 4 * 16);  // column-major: strides say so
  Eigen::MatrixXf y(10, 4 * 16);
  const auto heads = [](auto view) {  // (L, H * D) -> (1, H, L, D)
    return view.unflatten(1, 4, 16).unsqueeze(0).transpose(1, 2);
  };
  attn::attention(heads(attn::as_view(x)), heads(attn::as_view(x)), heads(attn::as_view(x)), heads(attn::as_view(y)));
  const auto q = heads(attn::as_view(x));
  EXPECT_LE(error_of(q, q, q, heads(attn::as_view(y))), kRounding);
}

TEST(Layouts, EigenMapsOwnNothingAndMayBeTemporaries) {
  auto memory = numbers(4 * 16);
  using RowMajor = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const auto rows =
      attn::as_view(Eigen::Map<RowMajor, 0, Eigen::OuterStride<>>(memory.data(), 4, 8, Eigen::OuterStride<>(16)));
  EXPECT_EQ(rows(2, 3), memory[2 * 16 + 3]);
  const auto columns = attn::as_view(Eigen::Map<const Eigen::MatrixXf>(memory.data(), 4, 8));
  EXPECT_EQ(columns(2, 3), memory[3 * 4 + 2]);
}

}  // namespace
}  // namespace usage
