// SPDX-License-Identifier: Apache-2.0
#include <sys/resource.h>

#include <algorithm>
#include <attn/attention_backward.hpp>
#include <cmath>
#include <iostream>
#include <thread>

#include "gtest/gtest.h"
#include "support/attention_grad_data.hpp"
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

}  // namespace
}  // namespace attn::test
