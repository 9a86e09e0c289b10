// SPDX-License-Identifier: Apache-2.0
#include <attn/attention.hpp>
#include <attn/observer.hpp>

#include "gtest/gtest.h"
#include "support/tensors.hpp"

// The output in the place of the queries.
namespace attn::test {
namespace {

class Watcher : public AttentionObserver {
 public:
  void on_attention(const AttentionCall& call) override { q = copy_of(call.q); }
  Tensor q;
};

TEST(AttentionInPlace, GivesTheBitsOfSeparateOutputs) {
  constexpr DType kTypes[] = {DType::f32, DType::f64, DType::bf16};
  for (const std::string& isa : available_isas()) {
    for (const int threads : {1, 3}) {
      Context context({.threads = threads, .isa = isa});
      for (const DType dtype : kTypes) {
        for (const std::ptrdiff_t queries : {1, 9, 50, 150}) {
          SCOPED_TRACE(isa + ", " + std::string(name_of(dtype)) + ", " + std::to_string(queries) + " queries");
          const Tensor q = normal_tensor(dtype, 1, 2, 4, queries, 12), k = normal_tensor(dtype, 2, 2, 2, 60, 12);
          const DType sums = dtype == DType::f64 ? DType::f64 : DType::f32;
          const auto run = [&](Tensor& out, const Tensor& from, Tensor& weights, Tensor& scores, Tensor& lse) {
            attention(from, {k, k}, {.out = out, .lse = lse, .weights = weights, .scores = scores}, {}, context);
          };
          Tensor out = poisoned_tensor(dtype, 2, 4, queries, 12), in_place = q.clone(), weights[2], scores[2], lse[2];
          for (int i = 0; i < 2; ++i) {
            weights[i] = poisoned_tensor(sums, 2, 4, queries, 60);
            scores[i] = poisoned_tensor(sums, 2, 4, queries, 60);
            lse[i] = poisoned_tensor(sums, 2, 4, queries);
          }
          run(out, q, weights[0], scores[0], lse[0]);
          run(in_place, in_place, weights[1], scores[1], lse[1]);
          EXPECT_TRUE(same_bits(in_place, out));
          EXPECT_TRUE(same_bits(weights[1], weights[0]));
          EXPECT_TRUE(same_bits(scores[1], scores[0]));
          EXPECT_TRUE(same_bits(lse[1], lse[0]));
        }
      }
    }
  }
}

TEST(AttentionInPlace, AnObserverSeesTheQueriesOfBefore) {
  Context context;
  Watcher watcher;
  context.set_observer(&watcher);
  const Tensor q = normal_tensor(DType::f32, 1, 1, 2, 7, 8);
  Tensor in_place = q.clone();
  attention(in_place, q, q, in_place, {}, context);
  EXPECT_TRUE(same_bits(watcher.q, q));
  EXPECT_FALSE(same_bits(in_place, q));
}

}  // namespace
}  // namespace attn::test
