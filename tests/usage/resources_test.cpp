// SPDX-License-Identifier: Apache-2.0
// Programs as users write them: dtypes, threads, memory and errors.
#include <Eigen/Core>
#include <algorithm>
#include <attn/attention.hpp>
#include <memory_resource>

#include "gtest/gtest.h"
#include "usage/plain.hpp"

// A foreign 16-bit type becomes one of ours by one line.
template <>
inline constexpr attn::DType attn::dtype_of<Eigen::bfloat16> = attn::DType::bf16;

namespace usage {
namespace {

TEST(Dtypes, Bf16FromRawBitsEigenAndUntyped) {
  std::vector<std::uint16_t> bits;
  for (const float x : numbers(8 * 4 * 16)) bits.push_back(attn::to_bf16(x).bits);
  std::vector<std::uint16_t> first(bits.size());
  auto q = attn::view(attn::bits_as<attn::bf16>(std::as_const(bits).data()), 1, 8, 4, 16);
  attn::attention(q, q, q, attn::view(attn::bits_as<attn::bf16>(first.data()), 1, 8, 4, 16));

  std::vector<Eigen::bfloat16> numbers_of_eigen;
  for (const float x : numbers(8 * 4 * 16)) numbers_of_eigen.push_back(Eigen::bfloat16(x));
  auto e = attn::view(numbers_of_eigen.data(), 1, 8, 4, 16);
  attn::In<4> untyped(attn::DType::bf16, bits.data(), {1, 8, 4, 16}, {8 * 4 * 16, 4 * 16, 16, 1});
  attn::attention(untyped, untyped, untyped, e);
  for (std::size_t i = 0; i < first.size(); ++i) {
    EXPECT_EQ(attn::to_float(attn::bf16{first[i]}), static_cast<float>(numbers_of_eigen[i]));
  }
}

attn::Tensor make() {
  attn::Tensor t = attn::Tensor::empty(attn::DType::f32, 1, 2, 3, 3);
  const auto x = numbers(t.size());
  std::copy(x.begin(), x.end(), t.values<float>().begin());
  return t;
}

TEST(Dtypes, TemporaryTensorsAndMixedTypes) {
  attn::Tensor out = attn::Tensor::zeros(attn::DType::f32, 1, 2, 3, 3);
  const attn::Tensor c = attn::Tensor::of<bool>({true, false, true, true, true, true, false, true, true}, 1, 1, 3, 3);
  attn::attention(make(), make(), make(), out, {.mask = attn::Mask::keep(c)});
  const attn::Tensor x = make();
  const auto q = x.view<float, 4>();
  const auto keep = c.view<bool, 4>();
  EXPECT_LE(error_of(q, q, q, out.view<float, 4>(), [&](auto, auto i, auto j) { return keep(0, 0, i, j); }), kRounding);

  const attn::Tensor narrow = x.to(attn::DType::bf16);
  attn::attention(q, narrow.view<attn::bf16, 4>(), narrow, out);
  const attn::Tensor wide = narrow.to(attn::DType::f32);
  EXPECT_LE(error_of(q, wide.view<float, 4>(), wide.view<float, 4>(), out.view<float, 4>()), kRounding);
}

// For programs without exceptions: ask first.
std::string tried(attn::View<const float, 4> q, attn::View<float, 4> out) {
  const attn::AttentionOptions options{.mask = attn::Mask::causal()};
  if (auto s = attn::check_attention(q, {q, q}, {.out = out}, options); !s.ok()) return s.message();
  attn::attention(q, q, q, out, options);
  return "done";
}

TEST(Errors, CheckedBeforehand) {
  const auto memory = numbers(2 * 4 * 8);
  auto out = memory;
  const auto q = attn::view(memory.data(), 1, 2, 4, 8);
  EXPECT_EQ(tried(q, attn::view(out.data(), 1, 2, 4, 8)), "done");
  EXPECT_LE(error_of(q, q, q, attn::view(out.data(), 1, 2, 4, 8), [](auto, auto i, auto j) { return j <= i; }),
            kRounding);
  EXPECT_EQ(tried(q, attn::view(out.data(), 1, 2, 4, 7)),
            "attention: out: shape (1, 2, 4, 7), expected (1, 2, 4, 8) as in q, with the head dim of v");
}

TEST(Resources, OneThread) {
  const auto memory = numbers(2 * 4 * 8);
  auto out = memory;
  const auto q = attn::view(memory.data(), 1, 2, 4, 8);
  attn::Context one({.threads = 1});
  attn::attention(q, q, q, attn::view(out.data(), 1, 2, 4, 8), {}, one);
  EXPECT_LE(error_of(q, q, q, attn::view(out.data(), 1, 2, 4, 8)), kRounding);
}

TEST(Resources, MemoryFromAPool) {
  std::pmr::monotonic_buffer_resource pool(std::pmr::get_default_resource());
  std::pmr::synchronized_pool_resource shared(&pool);
  const auto memory = numbers(8 * 16 * 64);
  const auto q = attn::view(memory.data(), 1, 8, 16, 64);
  attn::Context context({.memory = &shared});
  const std::ptrdiff_t shape[]{1, 8, 16, 64};
  attn::Tensor out = attn::Tensor::empty(attn::DType::f32, shape, &shared);
  attn::attention(q, q, q, out, {}, context);
  EXPECT_LE(error_of(q, q, q, out.view<float, 4>()), kRounding);

  std::vector<float, std::pmr::polymorphic_allocator<float>> mine(8 * 16 * 64, &shared);
  attn::attention(q, q, q, attn::view(mine.data(), 1, 8, 16, 64));
  EXPECT_LE(error_of(q, q, q, attn::view(mine.data(), 1, 8, 16, 64)), kRounding);
}

}  // namespace
}  // namespace usage
