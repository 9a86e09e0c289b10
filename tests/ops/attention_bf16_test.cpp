// SPDX-License-Identifier: Apache-2.0
#include <attn/attention.hpp>
#include <limits>

#include "gtest/gtest.h"
#include "support/isas.hpp"
#include "support/tensors.hpp"

// Where q, k, v and the output are bf16, a set may have products of its own for them.
namespace attn::test {
namespace {

struct Operands {
  Tensor q, k, v, out;
  Operands(DType dtype, std::ptrdiff_t queries, std::ptrdiff_t keys)
      : q(normal_tensor(dtype, 1, 1, 4, queries, 40)),
        k(normal_tensor(dtype, 2, 1, 2, keys, 40)),
        v(normal_tensor(dtype, 3, 1, 2, keys, 24)),
        out(poisoned_tensor(dtype, 1, 4, queries, 24)) {}
};

class AttentionBf16 : public testing::Test {
 protected:
  AttentionBf16() {
    for (const std::string& isa : available_isas()) {
      contexts.push_back(std::make_unique<Context>(ContextOptions{.threads = 1, .isa = isa}));
    }
  }
  std::vector<std::unique_ptr<Context>> contexts;
};

TEST_F(AttentionBf16, KernelFollowsFromIsaAndDtypes) {
  for (const auto& context : contexts) {
    const bool has_products = has_bf16_products(std::string(context->isa()));
    const auto is_in_bf16 = [&](const Operands& x, const Tensor& k) {
      AttentionOutputs outs;
      outs.out = Out<4>(const_cast<Tensor&>(x.out));
      return describe_attention(x.q, {k, x.v}, outs, {}, *context).kernel.find("of bf16") != std::string::npos;
    };
    const Operands narrow(DType::bf16, 20, 70), wide(DType::f32, 20, 70);
    EXPECT_EQ(is_in_bf16(narrow, narrow.k), has_products) << context->isa();
    EXPECT_FALSE(is_in_bf16(narrow, wide.k)) << context->isa();
    EXPECT_FALSE(is_in_bf16(wide, wide.k)) << context->isa();
  }
}

// Weights are rounded to bf16, and so is the sum that they are divided by.
TEST_F(AttentionBf16, ALoneKeyGivesItsValue) {
  for (const auto& context : contexts) {
    Operands x(DType::bf16, 70, 70);
    attention(x.q, x.k, x.v, x.out, {.mask = Mask::causal() & Mask::window(0, 0)}, *context);
    for (std::ptrdiff_t h = 0; h < 4; ++h) {
      const auto* out = x.out.values<bf16>().data() + h * 70 * 24;
      const auto* v = x.v.values<bf16>().data() + h / 2 * 70 * 24;
      EXPECT_EQ(std::memcmp(out, v, 70 * 24 * sizeof(bf16)), 0) << context->isa() << ", head " << h;
    }
  }
}

TEST_F(AttentionBf16, ANegativeScaleIsThatOfTheOppositeQuery) {
  for (const auto& context : contexts) {
    Operands x(DType::bf16, 40, 100), y(DType::bf16, 40, 100);
    for (bf16& number : y.q.values<bf16>()) number.bits ^= 0x8000;
    attention(x.q, x.k, x.v, x.out, {.scale = -0.3}, *context);
    attention(y.q, y.k, y.v, y.out, {.scale = 0.3}, *context);
    EXPECT_TRUE(same_bits(x.out, y.out)) << context->isa();
  }
}

// Scores of 1e30: the largest takes all.
TEST_F(AttentionBf16, HugeScoresStayFinite) {
  for (const auto& context : contexts) {
    Operands x(DType::bf16, 40, 100);
    const AttentionOptions options{.scale = 1e30};
    attention(x.q, x.k, x.v, x.out, options, *context);
    const Tensor out = x.out.to(DType::f64);
    Tensor wide = poisoned_tensor(DType::f64, 1, 4, 40, 24);
    attention(x.q.to(DType::f64), x.k.to(DType::f64), x.v.to(DType::f64), wide, options, *context);
    for (std::size_t i = 0; i < out.values<double>().size(); ++i) {
      ASSERT_NEAR(out.values<double>()[i], wide.values<double>()[i], 0.02) << context->isa() << ", " << i;
    }
  }
}

// The last query but one of a tile, keys of a last tile that is not full, and no dim that fills one.
TEST_F(AttentionBf16, NothingBeyondTheOperandsIsReadOrWritten) {
  for (const auto& context : contexts) {
    for (const std::ptrdiff_t keys : {1, 31, 33, 225}) {
      const Operands x(DType::bf16, 63, keys);
      // The same operands in the midst of NaN.
      Tensor around = poisoned_tensor(DType::bf16, 1, 4, 65, 24);
      const Out<4> inner(around.dtype(), static_cast<bf16*>(around.data()) + 24, {1, 4, 63, 24},
                         Out<4>(around).strides());
      attention(x.q, x.k, x.v, inner, {}, *context);
      Tensor dense = poisoned_tensor(DType::bf16, 1, 4, 63, 24);
      attention(x.q, x.k, x.v, dense, {}, *context);
      EXPECT_TRUE(same_bits(copy_of<4>({inner.dtype(), inner.data(), inner.extents(), inner.strides()}), dense));
      const Tensor untouched = poisoned_tensor(DType::bf16, 1, 4, 65, 24);
      EXPECT_EQ(std::memcmp(around.data(), untouched.data(), 24 * sizeof(bf16)), 0) << context->isa() << ", " << keys;
    }
  }
}

}  // namespace
}  // namespace attn::test
