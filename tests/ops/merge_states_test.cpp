// SPDX-License-Identifier: Apache-2.0
#include <attn/attention.hpp>
#include <cmath>
#include <limits>

#include "gtest/gtest.h"
#include "support/tensors.hpp"

namespace attn::test {
namespace {

// Attention of 40 queries over keys begin ... end of 150, and its lse.
struct State {
  Tensor out, lse;
};

class MergeStates : public testing::TestWithParam<DType> {
 protected:
  State over(int begin, int end, const AttentionOptions& options = {}) const {
    const DType lse_type = dtype_ == DType::f64 ? DType::f64 : DType::f32;
    State state{poisoned_tensor(dtype_, 2, 4, 40, 24), poisoned_tensor(lse_type, 2, 4, 40)};
    const auto part = [&](const Tensor& t) {
      const In<4> v(t);
      const char* data =
          static_cast<const char*>(v.data()) + begin * v.stride(2) * static_cast<std::ptrdiff_t>(size_of(v.dtype()));
      return In<4>(v.dtype(), data, {2, 2, end - begin, 24}, v.strides());
    };
    attention(q_, {part(k_), part(v_)}, {.out = state.out, .lse = state.lse}, options);
    return state;
  }
  static State merged(const State& a, const State& b) {
    State both{poisoned_tensor(a.out.dtype(), 2, 4, 40, 24), poisoned_tensor(a.lse.dtype(), 2, 4, 40)};
    merge_states(a.out, a.lse, b.out, b.lse, both.out, both.lse);
    return both;
  }
  void expect_same(const State& found, const State& expected) const {
    EXPECT_LE(largest_difference(found.out, expected.out), tolerance());
    EXPECT_LE(largest_difference(found.lse, expected.lse), tolerance());
  }
  // f32 and f64: as the table of cases; bf16: parts and results are each rounded to 2^-8 of values around 1.
  double tolerance() const { return dtype_ == DType::f64 ? 1e-13 : dtype_ == DType::f32 ? 3e-6 : 1.2e-2; }

  DType dtype_ = GetParam();
  Random random_{base_seed()};
  Tensor q_ = normal_tensor(random_, dtype_, 2, 4, 40, 24);
  Tensor k_ = normal_tensor(random_, dtype_, 2, 2, 150, 24), v_ = normal_tensor(random_, dtype_, 2, 2, 150, 24);
};

TEST_P(MergeStates, PartsGiveTheWhole) {
  const State whole = over(0, 150);
  for (const int at : {0, 1, 64, 149, 150}) expect_same(merged(over(0, at), over(at, 150)), whole);
}

TEST_P(MergeStates, IsAssociative) {
  const State a = over(0, 30), b = over(30, 90), c = over(90, 150);
  expect_same(merged(merged(a, b), c), merged(a, merged(b, c)));
  expect_same(merged(merged(a, b), c), over(0, 150));
}

TEST_P(MergeStates, AnEmptyPartChangesNoBit) {
  const State whole = over(0, 150), nothing = over(0, 0);
  for (const State& both : {merged(whole, nothing), merged(nothing, whole)}) {
    EXPECT_TRUE(same_bits(both.out, whole.out));
    EXPECT_TRUE(same_bits(both.lse, whole.lse));
  }
  const State still_nothing = merged(nothing, nothing);
  EXPECT_EQ(largest_difference(still_nothing.out, Tensor::zeros(dtype_, 2, 4, 40, 24)), 0);
  const Tensor lse = still_nothing.lse.to(DType::f64);
  for (const double x : lse.values<double>()) EXPECT_EQ(x, -std::numeric_limits<double>::infinity());
}

TEST_P(MergeStates, SinkIsGivenToOnePart) {
  const Tensor sink = Tensor::of<float>({0.5f, -1, 2, 3}, 4);
  expect_same(merged(over(0, 70, {.sink = sink}), over(70, 150)), over(0, 150, {.sink = sink}));
}

TEST_P(MergeStates, InPlace) {
  State a = over(0, 70);
  const State b = over(70, 150), expected = merged(a, b);
  merge_states(a.out, a.lse, b.out, b.lse, a.out, a.lse);
  EXPECT_TRUE(same_bits(a.out, expected.out));
  EXPECT_TRUE(same_bits(a.lse, expected.lse));
}

INSTANTIATE_TEST_SUITE_P(Dtypes, MergeStates, testing::Values(DType::f32, DType::f64, DType::bf16),
                         [](const auto& each) { return std::string(name_of(each.param)); });

TEST(MergeStatesCheck, NamesTheMistake) {
  const Tensor out = Tensor::zeros(DType::f32, 1, 1, 2, 3), lse = Tensor::zeros(DType::f32, 1, 1, 2);
  Tensor to = Tensor::zeros(DType::f32, 1, 1, 2, 3), to_lse = Tensor::zeros(DType::f32, 1, 1, 3);
  EXPECT_EQ(message_of([&] { merge_states(out, lse, out, lse, to, to_lse); }),
            "merge_states: lse: shape (1, 1, 3), expected (1, 1, 2) as out_a has rows");
}

}  // namespace
}  // namespace attn::test
