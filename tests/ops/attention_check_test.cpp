// SPDX-License-Identifier: Apache-2.0
#include <attn/attention.hpp>
#include <limits>

#include "base/concat.hpp"
#include "gtest/gtest.h"
#include "support/tensors.hpp"

// Every mistake of a caller, and the sentence that names it. The three entries give the same verdict.
namespace attn::test {
namespace {

// A call that is right: (1, 4, 6, 8) queries, (1, 2, 6, 8) keys. Each case below spoils one thing.
struct Call {
  std::vector<float> memory = std::vector<float>(4 * 6 * 16, 0.5f), results = memory;
  std::vector<std::uint8_t> bytes = std::vector<std::uint8_t>(4 * 6 * 16);
  std::vector<std::int32_t> ids = std::vector<std::int32_t>(64), cu_q = {0, 3, 6}, cu_k = {0, 3, 6};
  Tensor flat = Tensor::zeros(DType::f32, 4, 6, 8);
  In<4> q = f32(1, 4, 6, 8), k = f32(1, 2, 6, 8), v = f32(1, 2, 6, 8);
  AttentionOutputs outs = {.out = view(results.data(), 1, 4, 6, 8)};
  AttentionOptions options = {};

  template <std::integral... I>
  View<float, static_cast<int>(sizeof...(I))> f32(I... extents) {
    return view(memory.data(), extents...);
  }
  In<4> pairs(DType dtype, Extents<4> extents) { return {dtype, bytes.data(), extents, row_major(extents)}; }
  void pack() { options.packing = {.cu_q = cu_q, .cu_k = cu_k}; }
};

struct Mistake {
  const char* message;  // after "attention: "
  void (*spoil)(Call&);
};

const Mistake kMistakes[] = {
    // Operands.
    {"q: dtype none, expected f32, f64, bf16 or f16", [](Call& c) { c.q = {}; }},
    {"q: dtype u8, expected f32, f64, bf16 or f16",
     [](Call& c) {
       c.q = c.pairs(DType::u8, {1, 4, 6, 8});
     }},
    {"k: dtype i32, expected f32, f64, bf16 or f16", [](Call& c) { c.k = view(c.ids.data(), 1, 2, 4, 8); }},
    {"q: rank 3, expected 4", [](Call& c) { c.q = c.flat; }},
    {"v: null pointer, expected memory for (1, 2, 6, 8)",
     [](Call& c) { c.v = view(static_cast<const float*>(nullptr), 1, 2, 6, 8); }},
    {"v: null pointer, expected memory for (4294967296, 4294967296, 1, 1)",  // whose product overflows to 0
     [](Call& c) {
       constexpr std::ptrdiff_t kMany = std::ptrdiff_t{1} << 32;
       c.v = In<4>(DType::f32, nullptr, {kMany, kMany, 1, 1}, {1, 1, 1, 1});
     }},
    {"q: dtype unknown, expected f32, f64, bf16 or f16",
     [](Call& c) {
       c.q = c.pairs(static_cast<DType>(200), {1, 4, 6, 8});
     }},
    {"k: extents (1, 2, -6, 8), expected 0 or more", [](Call& c) { c.k = c.f32(1, 2, -6, 8); }},
    {"k: batch 2, expected 1 as in q", [](Call& c) { c.k = c.f32(2, 2, 6, 8); }},
    {"v: batch 2, expected 1 as in q", [](Call& c) { c.v = c.f32(2, 2, 6, 8); }},
    {"k: 3 heads, expected a divisor of q's 4", [](Call& c) { c.k = c.v = c.f32(1, 3, 6, 8); }},
    {"k: 0 heads, expected a divisor of q's 4", [](Call& c) { c.k = c.v = c.f32(1, 0, 6, 8); }},
    {"v: 4 heads, expected 2 as in k", [](Call& c) { c.v = c.f32(1, 4, 6, 8); }},
    {"k: head dim 16, expected 8 as in q", [](Call& c) { c.k = c.f32(1, 2, 6, 16); }},
    {"q: head dim 0, expected 1 or more", [](Call& c) { c.q = c.f32(1, 4, 6, 0); }},
    {"v: 5 keys, expected 6 as in k", [](Call& c) { c.v = c.f32(1, 2, 5, 8); }},
    // Outputs.
    {"outs: nothing asked for, expected at least one of out, lse, weights and scores", [](Call& c) { c.outs = {}; }},
    {"out: shape (1, 4, 6, 7), expected (1, 4, 6, 8) as in q, with the head dim of v",
     [](Call& c) { c.outs.out = c.f32(1, 4, 6, 7); }},
    {"out: stride 0 in dimension 1, expected a magnitude of at least 1: a place for each element",
     [](Call& c) {
       c.outs.out = View<float, 4>(c.memory.data(), {1, 4, 6, 8}, {0, 0, 8, 1});
     }},
    {"out: stride 7 in dimension 2, expected a magnitude of at least 8: a place for each element",
     [](Call& c) {
       c.outs.out = View<float, 4>(c.memory.data(), {1, 4, 6, 8}, {192, 48, 7, 1});
     }},
    {"out: stride -40 in dimension 1, expected a magnitude of at least 48: a place for each element",
     [](Call& c) {
       c.outs.out = View<float, 4>(c.memory.data() + 120, {1, 4, 6, 8}, {192, -40, 8, 1});
     }},
    {"lse: stride 1 in dimension 2, expected a magnitude of at least 4: a place for each element",
     [](Call& c) {
       c.outs.lse = View<float, 3>(c.memory.data(), {1, 4, 6}, {24, 1, 1});
     }},
    {"out: null pointer, expected memory for (1, 4, 6, 8)",
     [](Call& c) { c.outs.out = view(static_cast<float*>(nullptr), 1, 4, 6, 8); }},
    {"lse: shape (1, 4, 5), expected (1, 4, 6) as in q", [](Call& c) { c.outs.lse = c.f32(1, 4, 5); }},
    {"lse: dtype bf16, expected f32",
     [](Call& c) { c.outs.lse = view(reinterpret_cast<bf16*>(c.bytes.data()), 1, 4, 6); }},
    {"weights: shape (1, 2, 6, 6), expected (1, 4, 6, 6) as in q and k",
     [](Call& c) { c.outs.weights = c.f32(1, 2, 6, 6); }},
    {"scores: shape (1, 4, 6, 7), expected (1, 4, 6, 6) as in q and k",
     [](Call& c) { c.outs.scores = c.f32(1, 4, 6, 7); }},
    // Masks and alignment.
    {"mask: 2 lengths, expected 1, one for each batch entry",
     [](Call& c) {
       c.options.mask = Mask::lengths({6, 6});
     }},
    {"mask: lengths[0]: 7, expected at most the 6 keys", [](Call& c) { c.options.mask = Mask::lengths({7}); }},
    {"mask: documents: shape (1, 5), expected (1 or 1, 6)",
     [](Call& c) { c.options.mask = Mask::documents(view(c.ids.data(), 1, 5)); }},
    {"mask: documents: dtype u8, expected i32 or i64",
     [](Call& c) { c.options.mask = Mask::documents(view(c.bytes.data(), 1, 6)); }},
    {"mask: keep: dtype f32, expected boolean or u8", [](Call& c) { c.options.mask = Mask::keep(c.f32(1, 1, 6, 6)); }},
    {"mask: drop: extent 5 of dimension 3 (keys), expected 1 or 6",
     [](Call& c) {
       c.options.mask = Mask::drop(c.pairs(DType::u8, {1, 1, 1, 5}));
     }},
    {"mask: keep: extent 2 of dimension 1 (query heads), expected 1 or 4",
     [](Call& c) {
       c.options.mask = Mask::keep(c.pairs(DType::boolean, {1, 2, 6, 6}));
     }},
    {"align: not given, expected top_left, bottom_right or positions, since the mask or alibi depends on positions and "
     "there are 6 queries to 5 keys",
     [](Call& c) {
       c.k = c.v = c.f32(1, 2, 5, 8);
       c.options.mask = Mask::causal();
     }},
    {"align: not given, expected top_left, bottom_right or positions, since the mask or alibi depends on positions and "
     "there are 6 queries to 5 keys",
     [](Call& c) {
       c.k = c.v = c.f32(1, 2, 5, 8);
       c.options.alibi = c.f32(4);
     }},
    {"align: positions: shape (1, 5), expected (1 or 1, 6)",
     [](Call& c) { c.options.align = Align::positions(view(c.ids.data(), 1, 5)); }},
    // Numbers.
    {"scale: nan, expected a finite number within f32's range",
     [](Call& c) { c.options.scale = std::numeric_limits<double>::quiet_NaN(); }},
    {"scale: 1e+300, expected a finite number within f32's range", [](Call& c) { c.options.scale = 1e300; }},
    {"softcap: 0, expected a number above 0 within f32's range", [](Call& c) { c.options.softcap = 0; }},
    {"softcap: 1e+300, expected a number above 0 within f32's range", [](Call& c) { c.options.softcap = 1e300; }},
    {"softcap: 1e-300, expected a number above 0 within f32's range", [](Call& c) { c.options.softcap = 1e-300; }},
    {"dropout.p: 1.5, expected 0 to 1", [](Call& c) { c.options.dropout.p = 1.5; }},
    {"bias: extent 3 of dimension 2 (queries), expected 1 or 6", [](Call& c) { c.options.bias = c.f32(1, 4, 3, 6); }},
    {"bias: dtype boolean, expected f32, f64, bf16 or f16",
     [](Call& c) {
       c.options.bias = c.pairs(DType::boolean, {1, 1, 6, 6});
     }},
    {"sink: shape (2), expected (4) for the heads of q", [](Call& c) { c.options.sink = c.f32(2); }},
    {"alibi: shape (1), expected (4) for the heads of q", [](Call& c) { c.options.alibi = c.f32(1); }},
    // Packing.
    {"packing.cu_k: 2 entries, expected 3 as in cu_q",
     [](Call& c) {
       c.cu_k = {0, 6};
       c.pack();
     }},
    {"packing.cu_q[1]: 7, expected 0 to 6: ascending, within the tokens",
     [](Call& c) {
       c.cu_q = {0, 7, 7};
       c.pack();
     }},
    {"packing.cu_k[2]: 2, expected 3 to 6: ascending, within the tokens",
     [](Call& c) {
       c.cu_k = {0, 3, 2};
       c.pack();
     }},
    {"q: batch 2, expected 1 in a packed call",
     [](Call& c) {
       c.q = c.f32(2, 2, 6, 8);
       c.k = c.v = c.f32(2, 2, 6, 8);
       c.outs.out = c.f32(2, 2, 6, 8);
       c.pack();
     }},
    {"mask: 1 lengths, expected 2, one for each sequence",
     [](Call& c) {
       c.options.mask = Mask::lengths({3});
       c.pack();
     }},
    {"mask: lengths[1]: 3, expected at most the 2 keys of that sequence",
     [](Call& c) {
       c.cu_k = {0, 3, 5};
       c.options.mask = Mask::lengths({3, 3});
       c.pack();
     }},
    {"align: not given, expected top_left, bottom_right or positions, since the mask or alibi depends on positions and "
     "there are 3 queries to 4 keys",
     [](Call& c) {
       c.cu_k = {0, 4, 6};
       c.options.mask = Mask::causal();
       c.pack();
     }},
};

TEST(AttentionCheck, EveryMistakeIsNamedAlike) {
  for (const Mistake& mistake : kMistakes) {
    Call c;
    mistake.spoil(c);
    const std::string expected = std::string("attention: ") + mistake.message;
    EXPECT_EQ(message_of([&] { attention(c.q, c.k, c.v, c.outs, c.options); }), expected);
    const Status status = check_attention(c.q, {c.k, c.v}, c.outs, c.options);
    EXPECT_EQ(status.message(), expected);
    EXPECT_EQ(expected.rfind("attention: " + std::string(status.argument()) + ": ", 0), 0u) << status.argument();
    EXPECT_EQ(message_of([&] {
                (void)describe_attention(c.q, {c.k, c.v}, c.outs, c.options);
              }),
              "describe_" + expected);
  }
}

TEST(AttentionCheck, ARightCallPasses) {
  Call c;
  EXPECT_TRUE(check_attention(c.q, {c.k, c.v}, c.outs, c.options).ok());
  EXPECT_NO_THROW(attention(c.q, c.k, c.v, c.outs, c.options));
  c.pack();
  EXPECT_TRUE(check_attention(c.q, {c.k, c.v}, c.outs, c.options).ok());
}

TEST(AttentionCheck, OutputsMayLieInAnyOrderWithGaps) {
  std::vector<float> memory(4096);
  const Extents<4> strides[] = {{192, 48, 8, 1},  {192, 8, 32, 1},    {1, 6, 1, 24},    {0, 60, 10, 1},
                                {384, 96, 16, 2}, {192, -48, -8, -1}, {192, 48, -8, 1}, {-7, 1, 4, 24}};
  for (const Extents<4>& layout : strides) {
    Call c;
    c.outs.out = View<float, 4>(memory.data() + 2048, {1, 4, 6, 8}, layout);
    EXPECT_EQ(check_attention(c.q, {c.k, c.v}, c.outs, c.options).message(), "") << base::shape_text(layout.n);
  }
}

TEST(AttentionCheck, ZeroExtentsAreCallsWithoutWork) {
  const float* none = nullptr;
  float* nowhere = nullptr;
  EXPECT_NO_THROW(
      attention(view(none, 0, 4, 6, 8), view(none, 0, 2, 6, 8), view(none, 0, 2, 6, 8), view(nowhere, 0, 4, 6, 8)));
  EXPECT_NO_THROW(
      attention(view(none, 1, 0, 6, 8), view(none, 1, 0, 6, 8), view(none, 1, 0, 6, 8), view(nowhere, 1, 0, 6, 8)));
  EXPECT_NO_THROW(attention(view(none, 1, 4, 0, 8), view(none, 1, 2, 6, 8).slice(2, 0, 0), view(none, 1, 2, 0, 8),
                            view(nowhere, 1, 4, 0, 8)));
  const std::vector<float> keys(2 * 6 * 8);
  EXPECT_NO_THROW(attention(view(none, 1, 0, 6, 8), view(keys.data(), 1, 2, 6, 8), view(keys.data(), 1, 2, 6, 8),
                            view(nowhere, 1, 0, 6, 8)));
}

TEST(DescribeAttention, SaysWhatACallUses) {
  Random random(base_seed());
  const Tensor q = normal_tensor(random, DType::f32, 1, 4, 300, 64),
               k16 = normal_tensor(random, DType::bf16, 1, 4, 300, 64);
  Tensor out = poisoned_tensor(DType::f32, 1, 4, 300, 64);
  for (const std::string& isa : available_isas()) {
    Context context({.threads = 3, .isa = isa});
    const Description plain = describe_attention(q, {q, q}, {.out = out}, {}, context);
    EXPECT_EQ(plain.isa, isa);
    EXPECT_EQ(plain.threads, 3);
    EXPECT_FALSE(plain.kernel.empty());
    EXPECT_GT(plain.tile_q, 0);
    EXPECT_GT(plain.tile_k, 0);
    EXPECT_GE(plain.tasks, 3);
    EXPECT_GT(plain.scratch_bytes, 0u);
    EXPECT_LT(plain.scratch_bytes, std::size_t{16} << 20);
    EXPECT_FALSE(plain.copies_k || plain.copies_v);
    EXPECT_TRUE(describe_attention(q, {k16, q}, {.out = out}, {}, context).copies_k);
    EXPECT_TRUE(describe_attention(q, {q, k16}, {.out = out}, {}, context).copies_v);
  }
}

}  // namespace
}  // namespace attn::test
