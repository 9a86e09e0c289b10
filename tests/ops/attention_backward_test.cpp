// SPDX-License-Identifier: Apache-2.0
#include <sys/resource.h>

#include <algorithm>
#include <attn/attention_backward.hpp>
#include <cmath>
#include <iostream>
#include <thread>

#include "gtest/gtest.h"
#include "support/attention_grad_data.hpp"
#include "support/closeness.hpp"
#include "support/tensors.hpp"

namespace attn::test {
namespace {

// Calls of several parts of queries and keys, which the table's are too short for.
std::vector<AttentionCase> long_cases() {
  const AttentionCase plain{.number = 2,
                            .seed = base_seed() + 77,
                            .size = {1, 600, 700},
                            .heads = {1, 1},
                            .dims = {16, 12},
                            .align = Align::Kind::bottom_right};
  std::vector<AttentionCase> cases(12, plain);
  cases[1].mask = MaskKind::causal;
  cases[2].mask = MaskKind::window;
  cases[3].mask = MaskKind::keep;
  cases[3].heads = {4, 2};
  cases[4].mask = MaskKind::causal;
  cases[4].heads = {3, 1};
  cases[4].dropout_p = 0.3;
  cases[5].bias = BiasKind::full;
  cases[5].sink = true;
  cases[6].bias = BiasKind::keys;
  cases[6].size = {2, 600, 700};
  cases[6].softcap = 1.5;
  cases[7].bias = BiasKind::rows;
  cases[7].heads = {2, 1};
  cases[7].size = {2, 300, 600};
  cases[8].packing = PackingKind::packed_with_gaps;
  cases[8].mask = MaskKind::causal_lengths;
  cases[8].size = {3, 500, 500};
  cases[8].alibi = true;
  cases[9].mask = MaskKind::causal_lengths;
  cases[9].size = {2, 400, 900};
  cases[9].q = cases[9].k = cases[9].v = cases[9].out = DType::bf16;
  cases[10].size = {2, 0, 600};
  cases[11].mask = MaskKind::empty_rows;
  cases[11].q = DType::f64;
  return cases;
}

// The same all in bf16, with dims that fill no register.
std::vector<AttentionCase> long_bf16_cases() {
  std::vector<AttentionCase> cases = long_cases();
  for (AttentionCase& c : cases) {
    c.q = c.k = c.v = c.out = DType::bf16;
    c.dims = {.qk = 40, .v = 20};
  }
  return cases;
}

void match_the_reference(const std::vector<AttentionCase>& cases) {
  for (const AttentionCase& c : cases) {
    AttentionGradData data(c);
    const auto expected = data.reference();
    for (const std::string& isa : isas_for(c.k)) {
      std::vector<std::vector<std::uint64_t>> bits;
      for (const int threads : {1, 2, 3, 7}) {
        Context context({.threads = threads, .isa = isa});
        data.forward(context);
        data.poison_grads();
        ASSERT_NO_THROW(data.backward(context)) << c.name();
        EXPECT_EQ(data.complaint(expected), "") << isa << ", " << threads << " threads: " << c.name();
        if (threads == 1) bits = data.bits();
        EXPECT_EQ(data.bits(), bits) << isa << ", " << threads << " threads: " << c.name();
      }
    }
  }
}

TEST(AttentionBackward, LongCallsMatchTheReferenceWithAnyNumberOfThreads) { match_the_reference(long_cases()); }
TEST(AttentionBackward, LongCallsInBf16MatchTheReferenceWithAnyNumberOfThreads) {
  match_the_reference(long_bf16_cases());
}

// Where keys are hidden by an interval their blocks are skipped, and by a mask they are not: the bits are the same.
TEST(AttentionBackward, HiddenPairsChangeNoBit) {
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

double processor_seconds(int who) {
  rusage usage{};
  getrusage(who, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec) + 1e-6 * static_cast<double>(usage.ru_utime.tv_usec);
}

// One head of one sequence is all there is to share. Of two threads none does more than three quarters of the work, in
// one of some runs at least: another program may hold a processor for a while.
TEST(AttentionBackward, ALongHeadIsTheWorkOfAllThreads) {
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "one processor has nobody to share with";
  Context context({.threads = 2});
  const Tensor q = normal_tensor(DType::f32, 3, 1, 1, 4096, 64);
  Tensor out = poisoned_tensor(DType::f32, 1, 1, 4096, 64), lse = poisoned_tensor(DType::f32, 1, 1, 4096);
  Tensor dq = out.clone(), dk = out.clone(), dv = out.clone();
  const AttentionOptions options{.mask = Mask::causal()};
  attention(q, {q, q}, {.out = out, .lse = lse}, options, context);
  double share = 1;  // of the thread that does more
  for (int run = 0; run < 20 && share > 0.75; ++run) {
    const double all_before = processor_seconds(RUSAGE_SELF), own_before = processor_seconds(RUSAGE_THREAD);
    attention_backward(q, {.q = q, .k = q, .v = q, .out = out, .lse = lse}, {.dq = dq, .dk = dk, .dv = dv}, options,
                       context);
    const double own = processor_seconds(RUSAGE_THREAD) - own_before;
    const double of_all = own / (processor_seconds(RUSAGE_SELF) - all_before);
    share = std::max(of_all, 1 - of_all);
  }
  EXPECT_LE(share, 0.75);
  std::cout << "one head: one of two threads did " << 100 * share << " % of the work\n";
}

// A bias of every shape that can be broadcast.
TEST(AttentionBackward, BiasGradientsAreSummedWhereTheBiasIsBroadcast) {
  constexpr std::ptrdiff_t kBatch = 2, kHeads = 4, kQueries = 290, kKeys = 310, kDim = 8;
  Random random(base_seed() + 5);
  const Tensor q = normal_tensor(random, DType::f64, kBatch, kHeads, kQueries, kDim),
               k = normal_tensor(random, DType::f64, kBatch, 2, kKeys, kDim),
               v = normal_tensor(random, DType::f64, kBatch, 2, kKeys, kDim),
               grad_out = normal_tensor(random, DType::f64, kBatch, kHeads, kQueries, kDim);
  Tensor out = poisoned_tensor(DType::f64, kBatch, kHeads, kQueries, kDim),
         lse = poisoned_tensor(DType::f64, kBatch, kHeads, kQueries);
  for (int shape = 0; shape < 16; ++shape) {
    const auto extent = [shape](int d, std::ptrdiff_t n) { return (shape >> d & 1) == 0 ? n : 1; };
    const Extents<4> extents(extent(0, kBatch), extent(1, kHeads), extent(2, kQueries), extent(3, kKeys));
    const Tensor bias = normal_tensor(random, DType::f64, extents[0], extents[1], extents[2], extents[3]);
    Tensor dbias = poisoned_tensor(DType::f64, extents[0], extents[1], extents[2], extents[3]);
    AttentionSpec spec{.bias = bias};
    attention(q, {k, v}, {.out = out, .lse = lse}, build(spec));
    attention_backward(grad_out, {.q = q, .k = k, .v = v, .out = out, .lse = lse}, {.dbias = dbias}, build(spec));
    const auto expected = reference_attention_backward(q, k, v, spec, {.out = grad_out, .lse = {}});
    const std::vector<double> found = values_of(dbias);
    ASSERT_EQ(found.size(), expected.dbias.size());
    for (std::size_t i = 0; i < found.size(); ++i) ASSERT_NEAR(found[i], expected.dbias[i], 1e-11) << "shape " << shape;
  }
}

TEST(AttentionBackward, AddsToWhatIsThereInOneRounding) {
  Context context;
  for (AttentionCase c : long_cases()) {
    AttentionGradData data(c);
    data.forward(context);
    data.poison_grads();
    data.backward(context);
    const std::vector<double> once[] = {data.dq.values(), data.dk.values(), data.dv.values()};
    data.dq.fill([](const auto&) { return 3; });
    data.dk.fill([](const auto&) { return 0; });
    data.dv.fill([](const auto& at) { return static_cast<double>(at[2]); });
    data.dbias.fill([](const auto&) { return 0; });
    data.dsink.fill([](const auto&) { return 0; });
    data.backward(context, GradWrite::add);
    if (c.q == DType::bf16) continue;  // `once` is rounded already
    const std::vector<double> added[] = {data.dq.values(), data.dk.values(), data.dv.values()};
    for (std::size_t i = 0; i < added[0].size(); ++i) ASSERT_NEAR(added[0][i], once[0][i] + 3, 1e-6) << c.name();
    EXPECT_EQ(added[1], once[1]) << c.name();
    for (std::size_t i = 0; i < added[2].size(); ++i) {
      const auto token =
          static_cast<double>(i / static_cast<std::size_t>(c.dims.v) % static_cast<std::size_t>(data.dv.extents()[2]));
      ASSERT_NEAR(added[2][i], once[2][i] + token, 1e-4) << c.name();
    }
  }
}

void want_one_after_the_other(const AttentionCase& c, Context& context) {
  AttentionGradData data(c);
  data.forward(context);
  data.poison_grads();
  data.backward(context);
  const auto all = data.bits();
  const AttentionGrads wanted = data.grads();
  for (int only = 0; only < 5; ++only) {
    AttentionGrads one;
    if (only == 0) one.dq = wanted.dq;
    if (only == 1) one.dk = wanted.dk;
    if (only == 2) one.dv = wanted.dv;
    if (only == 3) one.dbias = wanted.dbias;
    if (only == 4) one.dsink = wanted.dsink;
    if ((only == 3 && !wanted.dbias.wanted()) || (only == 4 && !wanted.dsink.wanted())) continue;
    data.poison_grads();
    attention_backward(data.output_grads(), data.saved(), one, build(data.data.spec), context);
    EXPECT_EQ(data.bits()[static_cast<std::size_t>(only)], all[static_cast<std::size_t>(only)])
        << context.isa() << ": " << c.name();
  }
}

TEST(AttentionBackward, WhatElseIsWantedChangesNoBit) {
  Context context({.threads = 2});
  for (const AttentionCase& c : long_cases()) want_one_after_the_other(c, context);
  for (const std::string& isa : isas_for(DType::bf16)) {
    Context of_isa({.threads = 2, .isa = isa});
    for (const AttentionCase& c : long_bf16_cases()) want_one_after_the_other(c, of_isa);
  }
}

TEST(AttentionBackward, ARowWithoutKeysHasNoGradientButItsSinks) {
  Random random(base_seed() + 9);
  const Tensor q = normal_tensor(random, DType::f32, 1, 2, 5, 8),
               grad_out = normal_tensor(random, DType::f32, 1, 2, 5, 8);
  const Tensor sink = Tensor::of<float>({0.5f, -1.0f}, 2);
  Tensor out = poisoned_tensor(DType::f32, 1, 2, 5, 8), lse = poisoned_tensor(DType::f32, 1, 2, 5);
  Tensor dq = poisoned_tensor(DType::f32, 1, 2, 5, 8), dk = dq.clone(), dv = dq.clone(),
         dsink = poisoned_tensor(DType::f32, 2);
  const std::uint8_t nothing[] = {0};
  const AttentionOptions options{.mask = Mask::keep(view(nothing, 1, 1, 1, 1)), .sink = sink};
  attention(q, {q, q}, {.out = out, .lse = lse}, options);
  attention_backward(grad_out, {.q = q, .k = q, .v = q, .out = out, .lse = lse},
                     {.dq = dq, .dk = dk, .dv = dv, .dsink = dsink}, options);
  const Tensor zeros = Tensor::zeros(DType::f32, 1, 2, 5, 8);
  for (const Tensor* grad : {&dq, &dk, &dv}) EXPECT_TRUE(same_bits(*grad, zeros));
  EXPECT_EQ(values_of(dsink), (std::vector<double>{0, 0}));
  // lse is the sink's logit itself.
  const Tensor ones = Tensor::of<float>({1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, 1, 2, 5);
  attention_backward({.out = {}, .lse = ones}, {.q = q, .k = q, .v = q, .out = out, .lse = lse}, {.dsink = dsink},
                     options);
  EXPECT_EQ(values_of(dsink), (std::vector<double>{5, 5}));
}

// As a 16-bit training step has it: everything is stored in 16 bits, the saved output too. lse is f32.
TEST(AttentionBackward, SixteenBitGradientsAreAtMostThreeRoundingsOff) {
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
TEST(AttentionBackward, KernelFollowsFromIsaAndDtypes) {
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
    const bool has_products = isa == "amx" || isa == "avx512_bf16";
    EXPECT_EQ(is_in_bf16(DType::bf16, DType::bf16, DType::bf16), has_products) << isa;
    EXPECT_FALSE(is_in_bf16(DType::f32, DType::bf16, DType::bf16)) << isa;
    EXPECT_FALSE(is_in_bf16(DType::bf16, DType::f32, DType::bf16)) << isa;
    EXPECT_FALSE(is_in_bf16(DType::bf16, DType::bf16, DType::f32)) << isa;
  }
}

}  // namespace
}  // namespace attn::test
