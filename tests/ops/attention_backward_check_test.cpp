// SPDX-License-Identifier: Apache-2.0
#include <attn/attention_backward.hpp>

#include "gtest/gtest.h"
#include "support/tensors.hpp"

// Every mistake of a caller of the backward, and the sentence that names it. What it shares with the forward is tested
// there.
namespace attn::test {
namespace {

// A call that is right: (1, 4, 6, 8) queries, (1, 2, 6, 8) keys. Each case below spoils one thing.
struct Call {
  std::vector<float> memory = std::vector<float>(4 * 6 * 16, 0.5f), grads_memory = std::vector<float>(4 * 4 * 6 * 16);
  std::vector<std::uint8_t> bytes = std::vector<std::uint8_t>(4 * 6 * 16);
  AttentionOutputGrads output_grads = {.out = f32(1, 4, 6, 8)};
  AttentionSaved saved = {
      .q = f32(1, 4, 6, 8), .k = f32(1, 2, 6, 8), .v = f32(1, 2, 6, 8), .out = f32(1, 4, 6, 8), .lse = f32(1, 4, 6)};
  AttentionGrads grads = {.dq = view(grads_memory.data(), 1, 4, 6, 8)};
  AttentionOptions options = {};

  template <std::integral... I>
  View<float, static_cast<int>(sizeof...(I))> f32(I... extents) {
    return view(memory.data(), extents...);
  }
};

struct Mistake {
  const char* message;  // after "attention_backward: "
  void (*spoil)(Call&);
};

const Mistake kMistakes[] = {
    {"q: dtype none, expected f32, f64, bf16 or f16", [](Call& c) { c.saved.q = {}; }},
    {"k: head dim 16, expected 8 as in q", [](Call& c) { c.saved.k = c.f32(1, 2, 6, 16); }},
    {"out: not given, expected what the forward call gave", [](Call& c) { c.saved.out = {}; }},
    {"out: shape (1, 4, 6, 7), expected (1, 4, 6, 8) as in q, with the head dim of v",
     [](Call& c) { c.saved.out = c.f32(1, 4, 6, 7); }},
    {"lse: not given, expected what the forward call gave", [](Call& c) { c.saved.lse = {}; }},
    {"lse: shape (1, 4, 5), expected (1, 4, 6) as in q", [](Call& c) { c.saved.lse = c.f32(1, 4, 5); }},
    {"lse: dtype bf16, expected f32",
     [](Call& c) { c.saved.lse = view(reinterpret_cast<const bf16*>(c.bytes.data()), 1, 4, 6); }},
    {"lse: null pointer, expected memory for (1, 4, 6)",
     [](Call& c) { c.saved.lse = view(static_cast<const float*>(nullptr), 1, 4, 6); }},
    {"grad_out: not given, expected it or the derivative by lse", [](Call& c) { c.output_grads = {}; }},
    {"grad_out: shape (1, 4, 5, 8), expected (1, 4, 6, 8) as in q, with the head dim of v",
     [](Call& c) { c.output_grads.out = c.f32(1, 4, 5, 8); }},
    {"grad_out: dtype u8, expected f32, f64, bf16 or f16",
     [](Call& c) { c.output_grads.out = view(c.bytes.data(), 1, 4, 6, 8); }},
    {"grad_lse: shape (1, 2, 6), expected (1, 4, 6) as in q", [](Call& c) { c.output_grads.lse = c.f32(1, 2, 6); }},
    {"grads: nothing asked for, expected at least one of dq, dk, dv, dbias and dsink", [](Call& c) { c.grads = {}; }},
    {"grads.write: 7, expected overwrite or add", [](Call& c) { c.grads.write = static_cast<GradWrite>(7); }},
    {"dq: shape (1, 4, 6, 4), expected (1, 4, 6, 8) as in q", [](Call& c) { c.grads.dq = c.f32(1, 4, 6, 4); }},
    {"dq: null pointer, expected memory for (1, 4, 6, 8)",
     [](Call& c) { c.grads.dq = view(static_cast<float*>(nullptr), 1, 4, 6, 8); }},
    {"dk: shape (1, 4, 6, 8), expected (1, 2, 6, 8) as in k", [](Call& c) { c.grads.dk = c.f32(1, 4, 6, 8); }},
    {"dv: stride 0 in dimension 1, expected a magnitude of at least 1: a place for each element",
     [](Call& c) {
       c.grads.dv = View<float, 4>(c.memory.data(), {1, 2, 6, 8}, {0, 0, 8, 1});
     }},
    {"dv: dtype i32, expected f32, f64, bf16 or f16",
     [](Call& c) { c.grads.dv = view(reinterpret_cast<std::int32_t*>(c.bytes.data()), 1, 2, 6, 8); }},
    {"dbias: asked for, but there is no bias", [](Call& c) { c.grads.dbias = c.f32(1, 1, 6, 6); }},
    {"dbias: shape (1, 4, 6, 6), expected (1, 1, 6, 6) as in bias",
     [](Call& c) {
       c.options.bias = c.f32(1, 1, 6, 6);
       c.grads.dbias = c.f32(1, 4, 6, 6);
     }},
    {"dsink: asked for, but there is no sink", [](Call& c) { c.grads.dsink = c.f32(4); }},
    {"dsink: shape (2), expected (4) as in sink",
     [](Call& c) {
       c.options.sink = c.f32(4);
       c.grads.dsink = c.f32(2);
     }},
    {"softcap: 0, expected a number above 0 within f32's range", [](Call& c) { c.options.softcap = 0; }},
};

TEST(AttentionBackwardCheck, EveryMistakeIsNamedAlike) {
  for (const Mistake& mistake : kMistakes) {
    Call c;
    mistake.spoil(c);
    const std::string expected = std::string("attention_backward: ") + mistake.message;
    EXPECT_EQ(message_of([&] { attention_backward(c.output_grads, c.saved, c.grads, c.options); }), expected);
    EXPECT_EQ(check_attention_backward(c.output_grads, c.saved, c.grads, c.options).message(), expected);
    EXPECT_EQ(message_of([&] { (void)describe_attention_backward(c.output_grads, c.saved, c.grads, c.options); }),
              "describe_" + expected);
  }
}

TEST(AttentionBackwardCheck, ARightCallPassesAndIsDescribed) {
  Call c;
  EXPECT_TRUE(check_attention_backward(c.output_grads, c.saved, c.grads, c.options).ok());
  EXPECT_NO_THROW(attention_backward(c.output_grads.out, c.saved, c.grads, c.options));
  for (const std::string& isa : available_isas()) {
    Context context({.threads = 2, .isa = isa});
    const Description description = describe_attention_backward(c.output_grads, c.saved, c.grads, {}, context);
    EXPECT_EQ(description.isa, isa);
    EXPECT_EQ(description.threads, 2);
    EXPECT_FALSE(description.kernel.empty());
    EXPECT_GT(description.tile_q, 0);
    EXPECT_GT(description.tile_k, 0);
    EXPECT_GT(description.scratch_bytes, 0u);
  }
}

}  // namespace
}  // namespace attn::test
