// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <attn/attention_backward.hpp>
#include <iostream>
#include <limits>
#include <memory>

#include "gtest/gtest.h"
#include "support/attention_cases.hpp"
#include "support/attention_grad_data.hpp"
#include "support/closeness.hpp"
#include "support/isas.hpp"
#include "support/tensors.hpp"

// Where all operands and gradients are bf16, a set may have products of its own for them.
namespace attn::test {
namespace {

// As a 16-bit training step has it: everything is stored in 16 bits, the saved output too. lse is f32.
TEST(AttentionBackwardBf16, SixteenBitGradientsAreAtMostThreeRoundingsOff) {
  for (const DType dtype : {DType::bf16, DType::f16}) {
    for (const bool causal : {false, true}) {
      Random random(base_seed() + 21);
      const Tensor q = normal_tensor(random, dtype, 1, 2, 320, 64), k = normal_tensor(random, dtype, 1, 1, 320, 64),
                   v = normal_tensor(random, dtype, 1, 1, 320, 64),
                   grad_out = normal_tensor(random, dtype, 1, 2, 320, 64);
      AttentionSpec spec;
      spec.mask.causal = causal;
      const auto expected = reference_attention_backward(q, k, v, spec, {.out = grad_out, .lse = {}});
      for (const std::string& isa : isas_for(dtype)) {
        Context context({.isa = isa});
        Tensor out = poisoned_tensor(dtype, 1, 2, 320, 64), lse = poisoned_tensor(DType::f32, 1, 2, 320);
        Tensor dq = poisoned_tensor(dtype, 1, 2, 320, 64), dk = poisoned_tensor(dtype, 1, 1, 320, 64), dv = dk.clone();
        attention(q, {k, v}, {.out = out, .lse = lse}, build(spec), context);
        attention_backward(grad_out, {.q = q, .k = k, .v = v, .out = out, .lse = lse}, {.dq = dq, .dk = dk, .dv = dv},
                           build(spec), context);
        const Tolerance tolerance{.rounded = 3};
        const auto share = [&](const Tensor& found, const std::vector<double>& wanted) {
          return out_error(values_of(found), wanted, dtype, tolerance).share();
        };
        const double worst = std::max({share(dq, expected.dq), share(dk, expected.dk), share(dv, expected.dv)});
        EXPECT_LE(worst, 1) << isa << ", " << name_of(dtype) << (causal ? ", causal" : "");
        std::cout << isa << ", " << name_of(dtype) << (causal ? ", causal" : "") << ": " << 3 * worst << " roundings\n";
      }
    }
  }
}

// In pairs only where everything that is multiplied, and what is asked for, is bf16.
TEST(AttentionBackwardBf16, KernelFollowsFromIsaAndDtypes) {
  for (const std::string& isa : available_isas()) {
    Context context({.isa = isa});
    const auto is_in_bf16 = [&](DType of_k, DType of_grad_out, DType of_dq) {
      const Tensor x = normal_tensor(DType::bf16, 1, 1, 1, 20, 8), k = x.to(of_k), grad_out = x.to(of_grad_out);
      Tensor dq = x.to(of_dq), lse = poisoned_tensor(DType::f32, 1, 1, 20);
      const AttentionSaved saved{.q = x, .k = k, .v = x, .out = x, .lse = lse};
      const Description found =
          describe_attention_backward({.out = grad_out, .lse = {}}, saved, {.dq = dq}, {}, context);
      return found.kernel.find("of bf16") != std::string::npos;
    };
    EXPECT_EQ(is_in_bf16(DType::bf16, DType::bf16, DType::bf16), has_bf16_products(isa)) << isa;
    EXPECT_FALSE(is_in_bf16(DType::f32, DType::bf16, DType::bf16)) << isa;
    EXPECT_FALSE(is_in_bf16(DType::bf16, DType::f32, DType::bf16)) << isa;
    EXPECT_FALSE(is_in_bf16(DType::bf16, DType::bf16, DType::f32)) << isa;
  }
}

// Every case of the forward's table, all in bf16.
TEST(AttentionBackwardBf16, EveryCaseMatchesTheReferenceOnEveryIsaThatHasProducts) {
  std::vector<std::unique_ptr<Context>> contexts;
  for (const std::string& isa : isas_for(DType::bf16)) {
    if (has_bf16_products(isa)) contexts.push_back(std::make_unique<Context>(ContextOptions{.threads = 2, .isa = isa}));
  }
  if (contexts.empty()) GTEST_SKIP() << "no instruction set of this machine has products of bf16";
  for (AttentionCase c : attention_cases()) {
    c.q = c.k = c.v = c.out = DType::bf16;
    AttentionGradData data(c);
    const auto expected = data.reference();
    for (const auto& context : contexts) {
      data.forward(*context);
      data.poison_grads();
      ASSERT_NO_THROW(data.backward(*context)) << c.name();
      // Of few numbers, what rounding them once leaves is luck: a rounding of each term is allowed then.
      const bool are_few = std::min({expected.dq.size(), expected.dk.size(), expected.dv.size()}) < 64;
      EXPECT_EQ(data.complaint(expected, are_few ? 600 : 1), "") << context->isa() << ": " << c.name();
    }
  }
}

// Where keys are hidden by an interval their blocks are skipped, and by a mask they are not: the bits are the same.
TEST(AttentionBackwardBf16, HiddenPairsChangeNoBit) {
  constexpr std::ptrdiff_t kQueries = 300, kKeys = 333;
  std::vector<std::uint8_t> keep(kQueries * kKeys);
  for (std::ptrdiff_t i = 0; i < kQueries; ++i) {
    for (std::ptrdiff_t j = 0; j < kKeys; ++j) keep[static_cast<std::size_t>(i * kKeys + j)] = j <= i && i - j <= 70;
  }
  const AttentionOptions skipped{.mask = Mask::causal() & Mask::window(70, 0), .align = Align::top_left()};
  const AttentionOptions masked{.mask = Mask::keep(view(keep.data(), 1, 1, kQueries, kKeys))};
  for (const DType dtype : {DType::f32, DType::bf16}) {
    for (const std::string& isa : isas_for(dtype)) {
      Context context({.threads = 1, .isa = isa});
      Random random(base_seed() + 31);
      const Tensor q = normal_tensor(random, dtype, 1, 1, kQueries, 40),
                   k = normal_tensor(random, dtype, 1, 1, kKeys, 40), v = normal_tensor(random, dtype, 1, 1, kKeys, 20),
                   grad_out = normal_tensor(random, dtype, 1, 1, kQueries, 20);
      Tensor out = poisoned_tensor(dtype, 1, 1, kQueries, 20), lse = poisoned_tensor(DType::f32, 1, 1, kQueries);
      attention(q, {k, v}, {.out = out, .lse = lse}, skipped, context);
      std::vector<Tensor> grads[2];
      for (int m = 0; m < 2; ++m) {
        Tensor dq = poisoned_tensor(dtype, 1, 1, kQueries, 40), dk = poisoned_tensor(dtype, 1, 1, kKeys, 40),
               dv = poisoned_tensor(dtype, 1, 1, kKeys, 20);
        attention_backward(grad_out, {.q = q, .k = k, .v = v, .out = out, .lse = lse}, {.dq = dq, .dk = dk, .dv = dv},
                           m == 0 ? skipped : masked, context);
        for (Tensor* grad : {&dq, &dk, &dv}) grads[m].push_back(std::move(*grad));
      }
      for (std::size_t g = 0; g < 3; ++g) {
        EXPECT_TRUE(same_bits(grads[0][g], grads[1][g])) << isa << ", " << name_of(dtype) << ", gradient " << g;
      }
    }
  }
}

// Whatever its derivative is.
TEST(AttentionBackwardBf16, ARowWithoutKeysHasNoGradient) {
  const std::uint8_t nothing[] = {0};
  const AttentionOptions options{.mask = Mask::keep(view(nothing, 1, 1, 1, 1))};
  for (const std::string& isa : isas_for(DType::bf16)) {
    Context context({.isa = isa});
    const Tensor q = normal_tensor(DType::bf16, 3, 1, 2, 35, 8);
    Tensor grad_out = normal_tensor(DType::bf16, 4, 1, 2, 35, 8);
    grad_out.values<bf16>()[20] = to_bf16(std::numeric_limits<float>::infinity());
    Tensor out = poisoned_tensor(DType::bf16, 1, 2, 35, 8), lse = poisoned_tensor(DType::f32, 1, 2, 35);
    Tensor dq = poisoned_tensor(DType::bf16, 1, 2, 35, 8), dk = dq.clone(), dv = dq.clone();
    attention(q, {q, q}, {.out = out, .lse = lse}, options, context);
    attention_backward(grad_out, {.q = q, .k = q, .v = q, .out = out, .lse = lse}, {.dq = dq, .dk = dk, .dv = dv},
                       options, context);
    const Tensor zeros = Tensor::zeros(DType::bf16, 1, 2, 35, 8);
    for (const Tensor* grad : {&dq, &dk, &dv}) EXPECT_TRUE(same_bits(*grad, zeros)) << isa;
  }
}

}  // namespace
}  // namespace attn::test
