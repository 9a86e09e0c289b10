// SPDX-License-Identifier: Apache-2.0
#include <attn/memory_pool.hpp>
#include <attn/nn/encoder_layer.hpp>

#include "gtest/gtest.h"
#include "nn/torch_goldens.hpp"
#include "support/tensors.hpp"

namespace attn::nn {
namespace {

using test::largest_difference;
using test::message_of;
using test::normal_tensor;
using test::same_bits;

void expect_as_torch(DType dtype, double tolerance) {
  const TorchGoldens goldens("encoder_layer");
  EXPECT_EQ(goldens.cases().size(), 8u);
  for (const nlohmann::json& described : goldens.cases()) {
    SCOPED_TRACE(described.at("name").get<std::string>());
    TransformerEncoderLayer layer = encoder_layer_of(described);
    layer.load(goldens.state(described, dtype));
    const Tensor mask = goldens.mask(described, "src_mask"), padding = goldens.mask(described, "src_key_padding_mask");
    const Tensor y = layer(goldens.tensor(described, "src", dtype),
                           {.src_mask = mask, .src_key_padding_mask = padding, .is_causal = described.at("is_causal")});
    EXPECT_EQ(y.dtype(), dtype);
    EXPECT_LE(largest_difference(y, goldens.tensor(described, "out")), tolerance);
  }
}

// Results reach about 3. PyTorch's are rounded to f32 once; here each of some ten steps rounds.
TEST(TransformerEncoderLayer, EqualsPyTorchInF32) { expect_as_torch(DType::f32, 3e-6); }
TEST(TransformerEncoderLayer, EqualsPyTorchInF64) { expect_as_torch(DType::f64, 2.5e-7); }

constexpr std::ptrdiff_t kFeatures = 48, kWide = 80;

TransformerEncoderLayer random_layer(bool norm_first) {
  TransformerEncoderLayer layer({.d_model = kFeatures,
                                 .nhead = 4,
                                 .dim_feedforward = kWide,
                                 .activation = Activation::gelu,
                                 .norm_first = norm_first});
  StateDict state;
  std::uint64_t seed = 1;
  const auto put = [&](const std::string& name, auto... extents) {
    state["layer.0." + name] = normal_tensor(DType::f32, seed++, extents...);
  };
  put("self_attn.in_proj_weight", 3 * kFeatures, kFeatures);
  put("self_attn.in_proj_bias", 3 * kFeatures);
  put("self_attn.out_proj.weight", kFeatures, kFeatures);
  put("self_attn.out_proj.bias", kFeatures);
  put("linear1.weight", kWide, kFeatures);
  put("linear1.bias", kWide);
  put("linear2.weight", kFeatures, kWide);
  put("linear2.bias", kFeatures);
  for (const char* name : {"norm1.weight", "norm1.bias", "norm2.weight", "norm2.bias"}) put(name, kFeatures);
  layer.load(state, "layer.0.");
  return layer;
}

// Tokens of one sequence of a batch, as bits to compare.
std::vector<float> tokens_of(const Tensor& y, std::ptrdiff_t sequence, std::ptrdiff_t length) {
  const float* from = y.values<float>().data() + sequence * y.extent(1) * kFeatures;
  return {from, from + length * kFeatures};
}

TEST(TransformerEncoderLayer, ARowIsTheSameAloneInAPaddedBatchAndOnAnyThreads) {
  constexpr std::ptrdiff_t kLengths[] = {1, 37, 100, 64, 7};
  constexpr std::ptrdiff_t kBatch = 5, kLongest = 100;
  const Tensor x = normal_tensor(DType::f32, 50, kBatch, kLongest, kFeatures);
  Tensor padding = Tensor::zeros(DType::boolean, kBatch, kLongest);
  for (std::ptrdiff_t b = 0; b < kBatch; ++b) {
    for (std::ptrdiff_t t = kLengths[b]; t < kLongest; ++t) padding.view<bool, 2>()(b, t) = true;
  }
  for (const bool norm_first : {false, true}) {
    const TransformerEncoderLayer layer = random_layer(norm_first);
    const Tensor y = layer(x, {.src_key_padding_mask = padding});
    for (const int threads : {1, 2, 3, 7}) {
      Context context({.threads = threads});
      EXPECT_TRUE(same_bits(layer(x, {.src_key_padding_mask = padding}, context), y)) << threads << " threads";
    }
    for (std::ptrdiff_t b = 0; b < kBatch; ++b) {
      const auto sequence = x.view<float, 3>().slice(0, b, b + 1).slice(1, 0, kLengths[b]);
      EXPECT_EQ(tokens_of(layer(sequence), 0, kLengths[b]), tokens_of(y, b, kLengths[b])) << "sequence " << b;
    }
  }
}

TEST(TransformerEncoderLayer, TakesNoMemoryAfterTheFirstCall) {
  MemoryPool pool;
  Context context({.threads = 1, .memory = &pool});
  const Tensor x = normal_tensor(DType::f32, 50, 3, 70, kFeatures);
  const TransformerEncoderLayer layer = random_layer(false);
  layer(x, {}, context);
  const std::size_t before = pool.upstream_allocations();
  for (int i = 0; i < 3; ++i) layer(x, {}, context);
  EXPECT_EQ(pool.upstream_allocations(), before);
}

TEST(TransformerEncoderLayer, ErrorsNameEveryTensor) {
  TransformerEncoderLayer layer({.d_model = 4, .nhead = 2, .dim_feedforward = 3, .bias = false});
  const Tensor w = Tensor::zeros(DType::f32, 3, 4), norm = Tensor::zeros(DType::f32, 4);
  EXPECT_EQ(message_of([&] {
              layer.load({{"l.self_attn.in_proj_weight", w}, {"l.linear1.weight", w}, {"l.norm1.weight", norm}}, "l.");
            }),
            "state dict: l.self_attn.in_proj_weight: shape (3, 4), expected (12, 4); "
            "l.self_attn.out_proj.weight: missing, expected shape (4, 4); "
            "l.linear2.weight: missing, expected shape (4, 3); l.norm2.weight: missing, expected shape (4)");
}

}  // namespace
}  // namespace attn::nn
