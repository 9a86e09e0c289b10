// SPDX-License-Identifier: Apache-2.0
// Layers by central differences, by their inputs and every parameter.
#include <gtest/gtest.h>

#include <attn/autograd.hpp>
#include <attn/nn.hpp>

#include "support/gradient_check.hpp"

namespace attn::nn {
namespace {

using test::normal_tensor;

// A layer's call as a function of x and of every parameter, for central differences.
template <class Layer, class Call>
std::string layer_error(Layer layer, std::vector<std::vector<std::ptrdiff_t>> x_shapes, const Call& call) {
  initialise(layer, {.seed = 3, .dtype = DType::f64});
  test::GradientCase c{"layer", std::move(x_shapes), {}};
  const std::size_t inputs = c.shapes.size();
  const ParameterList list = parameters(layer);
  for (const NamedParameter& p : list) c.shapes.emplace_back(p.variable.shape().begin(), p.variable.shape().end());
  c.f = [&, inputs](const std::vector<Variable>& i) {
    StateDict unused;
    // Puts the variables of the check in the place of the parameters.
    class Replace : public ParameterVisitor {
     public:
      explicit Replace(std::span<const Variable> with) : with_(with) {}

     private:
      void on_parameter(const std::string&, Variable& v, std::span<const std::ptrdiff_t>, const Start&) override {
        v = with_[next_++];
      }
      std::span<const Variable> with_;
      std::size_t next_ = 0;
    } replace(std::span<const Variable>(i).subspan(inputs));
    layer.visit(replace);
    return call(layer, i);
  };
  // Random values as they come would saturate the softmax; parameters are half as large.
  c.prepare = [inputs](std::vector<Tensor>& t) {
    for (std::size_t n = inputs; n < t.size(); ++n) {
      for (double& x : t[n].values<double>()) x *= 0.5;
    }
  };
  return test::gradient_error(c);
}

TEST(LayerGradients, OfSmallLayers) {
  EXPECT_EQ(layer_error(Linear({.in_features = 4, .out_features = 3}), {{2, 3, 4}},
                        [](const Linear& l, const auto& i) { return l(i[0]); }),
            "");
  EXPECT_EQ(layer_error(LayerNorm({.features = 4, .eps = 1e-3}), {{2, 3, 4}},
                        [](const LayerNorm& l, const auto& i) { return l(i[0]); }),
            "");
  EXPECT_EQ(layer_error(Embedding({.num_embeddings = 4, .embedding_dim = 3}), {},
                        [](const Embedding& l, const auto&) {
                          return l.rows(Tensor::of<std::int32_t>({2, 0, 2}, 3));
                        }),
            "");
  EXPECT_EQ(layer_error(RMSNorm({.features = 4}), {{2, 3, 4}}, [](const RMSNorm& l, const auto& i) { return l(i[0]); }),
            "");
  EXPECT_EQ(layer_error(LearnedPositions({.max_tokens = 5, .dim = 4}), {{2, 3, 4}},
                        [](const LearnedPositions& l, const auto& i) { return l(i[0]); }),
            "");
  EXPECT_EQ(layer_error(SelfAttention({.d_model = 4, .d_k = 3, .d_v = 2}), {{2, 3, 4}},
                        [](const SelfAttention& l, const auto& i) { return l(i[0]).y; }),
            "");
}

TEST(LayerGradients, OfAttention) {
  const auto self = [](const MhaOptions& options) {
    return [options](const MultiHeadAttention& l, const auto& i) { return l(i[0], i[0], i[0], options).y; };
  };
  EXPECT_EQ(layer_error(MultiHeadAttention({.embed_dim = 8, .num_heads = 2}), {{2, 3, 8}}, self({})), "");
  EXPECT_EQ(layer_error(MultiHeadAttention({.embed_dim = 8, .num_heads = 4, .num_kv_heads = 2}), {{3, 8}},
                        self({.is_causal = true})),
            "");
  EXPECT_EQ(
      layer_error(MultiHeadAttention({.embed_dim = 8, .num_heads = 2, .bias = false, .layout = Layout::tokens_first}),
                  {{3, 2, 8}}, self({})),
      "");
  EXPECT_EQ(layer_error(
                MultiHeadAttention(
                    {.embed_dim = 8, .num_heads = 2, .add_bias_kv = true, .add_zero_attn = true, .kdim = 5, .vdim = 6}),
                {{2, 3, 8}, {2, 4, 5}, {2, 4, 6}},
                [](const MultiHeadAttention& l, const auto& i) { return l(i[0], i[1], i[2]).y; }),
            "");
}

// What PyTorch's gradients do not cover: a bias of the call besides a mask, and a residual.
TEST(LayerGradients, OfAttentionWithMoreThanPyTorchHas) {
  const Tensor bias = normal_tensor(DType::f64, 5, 1, 2, 3, 3), mask = normal_tensor(DType::f64, 6, 3, 3);
  const Tensor residual = normal_tensor(DType::f64, 7, 2, 3, 8);
  EXPECT_EQ(layer_error(MultiHeadAttention({.embed_dim = 8, .num_heads = 2}), {{2, 3, 8}},
                        [&](const MultiHeadAttention& l, const auto& i) {
                          return l(i[0], i[0], i[0],
                                   {.attn_mask = mask,
                                    .residual = residual,
                                    .attention = {.mask = Mask::window(1, 1), .softcap = 2, .bias = bias}})
                              .y;
                        }),
            "");
}

TEST(LayerGradients, OfADecoderUnderMasks) {
  const Tensor hidden = Tensor::of<bool>({false, true, true, false, false, true, false, false, false}, 3, 3);
  const Tensor added = normal_tensor(DType::f64, 5, 3, 4);
  const Tensor padding = Tensor::of<bool>({false, false, false, false, false, true}, 2, 3);
  const Tensor memory_padding = Tensor::of<bool>({false, false, false, true, false, false, false, false}, 2, 4);
  EXPECT_EQ(layer_error(TransformerDecoderLayer({.d_model = 8,
                                                 .nhead = 2,
                                                 .dim_feedforward = 10,
                                                 .activation = Activation::silu,
                                                 .bias = false,
                                                 .layout = Layout::tokens_first}),
                        {{3, 2, 8}, {4, 2, 8}},
                        [&](const TransformerDecoderLayer& l, const auto& i) {
                          return l(i[0], i[1],
                                   {.tgt_mask = hidden,
                                    .tgt_key_padding_mask = padding,
                                    .memory_mask = added,
                                    .memory_key_padding_mask = memory_padding});
                        }),
            "");
}

TEST(LayerGradients, OfEncoderAndDecoder) {
  for (const bool norm_first : {false, true}) {
    const EncoderLayerShape shape{.d_model = 8,
                                  .nhead = 2,
                                  .dim_feedforward = 10,
                                  .dropout_p = 0.2,
                                  .activation = Activation::gelu,
                                  .norm_first = norm_first};
    EXPECT_EQ(layer_error(TransformerEncoderLayer(shape), {{2, 3, 8}},
                          [](const TransformerEncoderLayer& l, const auto& i) {
                            DropoutStream stream{.seed = 4};
                            return l(i[0], {.dropout = &stream});
                          }),
              "")
        << norm_first;
    EXPECT_EQ(layer_error(TransformerDecoderLayer(shape), {{2, 3, 8}, {2, 4, 8}},
                          [](const TransformerDecoderLayer& l, const auto& i) {
                            DropoutStream stream{.seed = 5};
                            return l(i[0], i[1], {.tgt_is_causal = true, .dropout = &stream});
                          }),
              "")
        << norm_first;
  }
}

}  // namespace
}  // namespace attn::nn
