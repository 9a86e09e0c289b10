// SPDX-License-Identifier: Apache-2.0
#include <attn/nn/multi_head_attention.hpp>
#include <attn/nn/norm.hpp>

#include "gtest/gtest.h"
#include "nn/torch_goldens.hpp"
#include "support/tensors.hpp"

namespace attn::nn {
namespace {

using test::largest_difference;
using test::message_of;
using test::normal_tensor;
using test::same_bits;

// PyTorch's results are rounded to f32 once; f32 sums over at most 64 products lose a few times that more.
void expect_attention_as_torch(DType dtype, double tolerance) {
  const TorchGoldens goldens("mha");
  EXPECT_EQ(goldens.cases().size(), 40u);
  for (const nlohmann::json& described : goldens.cases()) {
    SCOPED_TRACE(described.at("name").get<std::string>());
    MultiHeadAttention layer = mha_of(described);
    layer.load(goldens.state(described, dtype));
    const nlohmann::json& call = described.at("call");
    const bool is_averaged = call.at("average_attn_weights");
    const Tensor padding = goldens.mask(described, "key_padding_mask"), mask = goldens.mask(described, "attn_mask");
    const MhaOutput found = layer(goldens.tensor(described, "query", dtype), goldens.tensor(described, "key", dtype),
                                  goldens.tensor(described, "value", dtype),
                                  {.need_weights = call.at("need_weights"),
                                   .weights = is_averaged ? Weights::averaged : Weights::per_head,
                                   .key_padding_mask = padding,
                                   .attn_mask = mask,
                                   .is_causal = call.at("is_causal")});
    EXPECT_EQ(found.y.dtype(), dtype);
    EXPECT_LE(largest_difference(found.y, goldens.tensor(described, "out")), tolerance);
    EXPECT_EQ(found.weights.has_value(), call.at("need_weights").get<bool>());
    if (!found.weights.has_value()) continue;
    EXPECT_LE(largest_difference(found.weights, goldens.tensor(described, "weights")), tolerance);
  }
}

TEST(MultiHeadAttention, EqualsPyTorchInF32) { expect_attention_as_torch(DType::f32, 1e-6); }
TEST(MultiHeadAttention, EqualsPyTorchInF64) { expect_attention_as_torch(DType::f64, 1.2e-7); }

// A state dict of random parameters for a layer with E features and G of keys and values.
StateDict random_state(std::ptrdiff_t e, std::ptrdiff_t g) {
  return {{"in_proj_weight", normal_tensor(DType::f32, 1, e + 2 * g, e)},
          {"in_proj_bias", normal_tensor(DType::f32, 2, e + 2 * g)},
          {"out_proj.weight", normal_tensor(DType::f32, 3, e, e)},
          {"out_proj.bias", normal_tensor(DType::f32, 4, e)}};
}

// Rows [begin, end) of keys or values repeated for each query head of their group, as a layer without groups has them.
Tensor repeat_groups(const Tensor& rows, std::ptrdiff_t kv_heads, std::ptrdiff_t repeats) {
  const std::ptrdiff_t dim = rows.extent(0) / kv_heads, features = rows.extent(1);
  Tensor all = Tensor::empty(DType::f32, rows.extent(0) * repeats, features);
  for (std::ptrdiff_t r = 0; r < all.extent(0); ++r) {
    const std::ptrdiff_t from = r / dim / repeats * dim + r % dim;
    for (std::ptrdiff_t c = 0; c < features; ++c) all.view<float, 2>()(r, c) = rows.view<float, 2>()(from, c);
  }
  return all;
}

TEST(MultiHeadAttention, GroupedHeadsShareKeysAndValues) {
  const StateDict grouped_state = {{"q_proj_weight", normal_tensor(DType::f32, 1, 12, 12)},
                                   {"k_proj_weight", normal_tensor(DType::f32, 2, 6, 5)},
                                   {"v_proj_weight", normal_tensor(DType::f32, 3, 6, 5)},
                                   {"out_proj.weight", normal_tensor(DType::f32, 4, 12, 12)}};
  StateDict state = grouped_state;
  state["k_proj_weight"] = repeat_groups(state["k_proj_weight"], 2, 2);
  state["v_proj_weight"] = repeat_groups(state["v_proj_weight"], 2, 2);
  MhaShape shape{.embed_dim = 12, .num_heads = 4, .bias = false, .kdim = 5, .vdim = 5};
  MultiHeadAttention plain(shape);
  plain.load(state);
  shape.num_kv_heads = 2;
  MultiHeadAttention grouped(shape);
  grouped.load(grouped_state);
  const Tensor x = normal_tensor(DType::f32, 5, 2, 3, 12), kv = normal_tensor(DType::f32, 6, 2, 4, 5);
  EXPECT_TRUE(same_bits(plain(x, kv, kv).y, grouped(x, kv, kv).y));
}

TEST(MultiHeadAttention, LayoutsResidualAndUnbatchedAgree) {
  MhaShape shape{.embed_dim = 8, .num_heads = 2};
  MultiHeadAttention batch_first(shape);
  shape.layout = Layout::tokens_first;
  MultiHeadAttention tokens_first(shape);
  batch_first.load(random_state(8, 8));
  tokens_first.load(random_state(8, 8));
  const Tensor x = normal_tensor(DType::f32, 5, 2, 3, 8);
  const Tensor y = batch_first(x, x, x, {.residual = x}).y;
  const auto turned = x.view<float, 3>().transpose(0, 1);
  const Tensor z = tokens_first(turned, turned, turned, {.residual = turned}).y;
  const auto alone = x.view<float, 3>().select(0, 1);
  const Tensor w = batch_first(alone, alone, alone, {.residual = alone}).y;
  EXPECT_EQ(z.extent(0), 3);
  for (int t = 0; t < 3; ++t) {
    for (int c = 0; c < 8; ++c) {
      EXPECT_EQ((y.view<float, 3>()(1, t, c)), (z.view<float, 3>()(t, 1, c)));
      EXPECT_EQ((y.view<float, 3>()(1, t, c)), (w.view<float, 2>()(t, c)));
    }
  }
}

// Queries, keys and values of one tensor come from one product; of three, from three, which give the same bits.
TEST(MultiHeadAttention, ProjectsAtOnceWhatIsTheSame) {
  for (const Layout layout : {Layout::batch_first, Layout::tokens_first}) {
    MultiHeadAttention layer({.embed_dim = 64, .num_heads = 4, .num_kv_heads = 2, .layout = layout});
    layer.load(random_state(64, 32));
    const Tensor x = normal_tensor(DType::f32, 9, 3, 17, 64), same = x.clone();
    const Tensor y = layer(x, x, x).y;
    EXPECT_TRUE(same_bits(layer(x, same, same).y, y));
    EXPECT_TRUE(same_bits(layer(same, x, same).y, y));
    // The norm in the same pass, too.
    LayerNorm norm({.features = 64});
    norm.load({{"weight", normal_tensor(DType::f32, 7, 64)}, {"bias", normal_tensor(DType::bf16, 8, 64)}});
    EXPECT_TRUE(
        same_bits(layer(x, x, x, {.residual = x, .norm = norm.options()}).y, norm(layer(x, x, x, {.residual = x}).y)));
  }
}

TEST(MultiHeadAttention, EveryWayToSayCausalAgrees) {
  MultiHeadAttention layer({.embed_dim = 8, .num_heads = 2});
  layer.load(random_state(8, 8));
  const Tensor x = normal_tensor(DType::f32, 5, 2, 4, 8);
  Tensor hidden = Tensor::zeros(DType::boolean, 4, 4), minus_inf = Tensor::zeros(DType::f32, 4, 4);
  for (int i = 0; i < 4; ++i) {
    for (int j = i + 1; j < 4; ++j) {
      hidden.view<bool, 2>()(i, j) = true;
      minus_inf.view<float, 2>()(i, j) = -HUGE_VALF;
    }
  }
  const Tensor y = layer(x, x, x, {.is_causal = true}).y;
  EXPECT_LE(largest_difference(layer(x, x, x, {.attn_mask = hidden}).y, y), 1e-6);
  EXPECT_LE(largest_difference(layer(x, x, x, {.attn_mask = minus_inf}).y, y), 1e-6);
  EXPECT_LE(largest_difference(layer(x, x, x, {.attention = {.mask = Mask::causal()}}).y, y), 1e-6);
  EXPECT_GT(largest_difference(layer(x, x, x).y, y), 0.01);
}

TEST(MultiHeadAttention, AppendedKeysStayVisible) {
  StateDict state = random_state(8, 8);
  state["bias_k"] = normal_tensor(DType::f32, 7, 1, 1, 8);
  state["bias_v"] = normal_tensor(DType::f32, 8, 1, 1, 8);
  MultiHeadAttention layer({.embed_dim = 8, .num_heads = 2, .add_bias_kv = true, .add_zero_attn = true});
  layer.load(state);
  const Tensor x = normal_tensor(DType::f32, 5, 1, 3, 8);
  const Tensor all_hidden = Tensor::of<bool>({true, true, true}, 1, 3);
  const Tensor weights =
      layer(x, x, x, {.need_weights = true, .key_padding_mask = all_hidden, .is_causal = true}).weights;
  for (int i = 0; i < 3; ++i) {
    const auto row = weights.view<float, 3>().select(0, 0).select(0, i);
    EXPECT_EQ(row(0) + row(1) + row(2), 0);
    EXPECT_NEAR(row(3) + row(4), 1, 1e-6);
  }
  // A bias of the call speaks of appended keys too, in every dtype.
  const Tensor bias = Tensor::of<double>({0, 0, 0, 0, -HUGE_VAL}, 1, 1, 1, 5), none = Tensor::zeros(DType::f32, 3, 3);
  const Tensor biased = layer(x, x, x, {.need_weights = true, .attn_mask = none, .attention = {.bias = bias}}).weights;
  EXPECT_EQ((biased.view<float, 3>()(0, 2, 4)), 0);
}

TEST(MultiHeadAttention, Errors) {
  EXPECT_EQ(message_of([] { MultiHeadAttention({.embed_dim = 6, .num_heads = 4}); }),
            "MultiHeadAttention: embed_dim: 6, expected a multiple of num_heads 4");
  EXPECT_EQ(message_of([] { MultiHeadAttention({.embed_dim = 8, .num_heads = 4, .num_kv_heads = 3}); }),
            "MultiHeadAttention: num_kv_heads: 3, expected a divisor of num_heads 4");
  MultiHeadAttention layer({.embed_dim = 8, .num_heads = 2});
  const Tensor x = Tensor::zeros(DType::f32, 2, 3, 8), y = Tensor::zeros(DType::f32, 2, 4, 8);
  EXPECT_EQ(message_of([&] { layer(x, x, x); }), "MultiHeadAttention: in_proj_weight: not loaded");
  EXPECT_EQ(
      message_of([&] {
        layer.load({{"in_proj_weight", x}});
      }),
      "state dict: in_proj_weight: shape (2, 3, 8), expected (24, 8); in_proj_bias: missing, expected shape (24); "
      "out_proj.weight: missing, expected shape (8, 8); out_proj.bias: missing, expected shape (8)");
  layer.load(random_state(8, 8));
  EXPECT_EQ(message_of([&] { layer(Tensor::zeros(DType::f32, 3), x, x); }),
            "MultiHeadAttention: query: shape (3), expected (batch, tokens, 8) or (tokens, 8)");
  EXPECT_EQ(message_of([&] { layer(x, x, y); }),
            "MultiHeadAttention: value: shape (2, 4, 8), expected the key's batch of 2 and 3 tokens");
  const Tensor mask = Tensor::zeros(DType::boolean, 4, 3), words = Tensor::zeros(DType::i64, 3, 3);
  EXPECT_EQ(message_of([&] { layer(x, x, x, {.attn_mask = mask}); }),
            "MultiHeadAttention: attn_mask: shape (4, 3), expected (3, 3) or (4, 3, 3)");
  EXPECT_EQ(message_of([&] { layer(x, x, x, {.key_padding_mask = mask}); }),
            "MultiHeadAttention: key_padding_mask: shape (4, 3), expected (2, 3)");
  EXPECT_EQ(message_of([&] { layer(x, x, x, {.attn_mask = words}); }),
            "MultiHeadAttention: attn_mask: dtype i64, expected boolean, u8 or a floating dtype");
  const Tensor nothing = Tensor::zeros(DType::f32, 2, 3, 0);
  EXPECT_EQ(message_of([&] { MultiHeadAttention()(nothing, nothing, nothing); }),
            "MultiHeadAttention: in_proj_weight: not loaded");
  EXPECT_EQ(
      message_of([&] { layer(x, y, y, {.is_causal = true, .attention = {.align = Align::bottom_right()}}); }),
      "MultiHeadAttention: is_causal: means top_left, but attention.align says otherwise; expected Mask::causal() "
      "in attention.mask");
}

// Where keys are appended masks are copied, and where several biases meet they are added up, before attention sees any.
TEST(MultiHeadAttention, ErrorsOfMasksThatItCopies) {
  MultiHeadAttention layer({.embed_dim = 8, .num_heads = 2, .add_zero_attn = true});
  layer.load(random_state(8, 8));
  const Tensor x = Tensor::zeros(DType::f32, 2, 3, 8), none = Tensor::zeros(DType::f32, 3, 3);
  const In<2> nowhere(DType::boolean, nullptr, {2, 3}, {3, 1});
  EXPECT_EQ(message_of([&] { layer(x, x, x, {.key_padding_mask = nowhere}); }),
            "MultiHeadAttention: key_padding_mask: null pointer, expected memory for (2, 3)");
  const auto message = [&](const In<4>& bias) {
    return message_of([&] { layer(x, x, x, {.attn_mask = none, .attention = {.bias = bias}}); });
  };
  EXPECT_EQ(message(In<4>(DType::f32, nullptr, {1, 1, 1, 4}, {4, 4, 4, 1})),
            "MultiHeadAttention: attention.bias: null pointer, expected memory for (1, 1, 1, 4)");
  EXPECT_EQ(message(Tensor::zeros(DType::f32, 1, 1, 3, 3)),
            "MultiHeadAttention: attention.bias: shape (1, 1, 3, 3), expected (2, 2, 3, 4) or extents of 1");
  EXPECT_EQ(message(none), "MultiHeadAttention: attention.bias: rank 2, expected 4");
  EXPECT_EQ(message(Tensor::zeros(DType::i32, 1, 1, 1, 4)),
            "MultiHeadAttention: attention.bias: dtype i32, expected f32, f64, bf16 or f16");
}

}  // namespace
}  // namespace attn::nn
