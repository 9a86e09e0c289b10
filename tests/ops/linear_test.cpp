// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <attn/linear.hpp>
#include <cmath>
#include <limits>

#include "gtest/gtest.h"
#include "kernels/reference/epilogue.hpp"
#include "kernels/reference/matmul.hpp"
#include "support/tensors.hpp"

namespace attn {
namespace {

using test::message_of;
using test::normal_tensor;
using test::values_of;

// What linear should give, from the operands as they are stored.
std::vector<double> expected(const Tensor& x, const Tensor& w, const Tensor& bias, const Tensor& residual,
                             Activation activation) {
  const std::vector<double> a = values_of(x), b = values_of(w), shift = values_of(bias), rest = values_of(residual);
  std::vector<double> y(rest.size());
  const std::ptrdiff_t m = x.extent(0), n = w.extent(0), k = x.extent(1);
  kernels::reference::matmul(view(a.data(), m, k), view(b.data(), n, k), view(y.data(), m, n));
  for (std::size_t i = 0; i < y.size(); ++i) {
    y[i] = kernels::reference::finish(activation, y[i], shift[i % shift.size()], rest[i]);
  }
  return y;
}

TEST(Linear, EveryDtypeOfEveryOperand) {
  constexpr DType kTypes[] = {DType::f32, DType::f64, DType::bf16, DType::f16};
  for (const DType x_type : kTypes) {
    for (const DType w_type : kTypes) {
      for (const DType y_type : kTypes) {
        SCOPED_TRACE(std::string(name_of(x_type)) + " " + std::string(name_of(w_type)) + " " +
                     std::string(name_of(y_type)));
        const Tensor x = normal_tensor(x_type, 1, 5, 21), w = normal_tensor(w_type, 2, 19, 21);
        const Tensor bias = normal_tensor(y_type, 3, 19), residual = normal_tensor(x_type, 4, 5, 19);
        Tensor y = Tensor::empty(y_type, 5, 19);
        linear(x, PackedWeight(w), y, {.bias = bias, .activation = Activation::silu, .residual = residual});
        const std::vector<double> exact = expected(x, w, bias, residual, Activation::silu), found = values_of(y);
        // Results reach about 15; one rounding to the type of y, and f32 sums unless the weight is f64.
        const double unit = y_type == DType::bf16 ? 0x1p-8 : y_type == DType::f16 ? 0x1p-11 : 4e-7;
        for (std::size_t i = 0; i < exact.size(); ++i) {
          EXPECT_NEAR(found[i], exact[i], unit * (4 + std::abs(exact[i])));
        }
      }
    }
  }
}

TEST(Linear, AnyStridesAndResidualInPlace) {
  const Tensor x = normal_tensor(DType::f32, 1, 21, 7), w = normal_tensor(DType::f32, 2, 21, 70),
               bias = normal_tensor(DType::f32, 3, 70);
  Tensor plain = Tensor::empty(DType::f32, 7, 70), y = normal_tensor(DType::f32, 4, 7, 70);
  const auto xt = x.view<float, 2>().transpose(0, 1);
  const PackedWeight packed(w.view<float, 2>().transpose(0, 1));
  linear(xt, packed, plain, {.bias = bias, .residual = y.clone()});
  // y in columns of a wider array, from the last to the first.
  Tensor wide = Tensor::zeros(DType::f32, 70, 9);
  const View<float, 2> backwards(wide.view<float, 2>().data() + 69 * 9, {7, 70}, {1, -9});
  linear(xt, packed, backwards, {.bias = bias, .residual = y.clone()});
  linear(xt, packed, y, {.bias = bias, .residual = y});
  for (int r = 0; r < 7; ++r) {
    for (int c = 0; c < 70; ++c) {
      EXPECT_EQ(backwards(r, c), (plain.view<float, 2>()(r, c)));
      EXPECT_EQ((y.view<float, 2>()(r, c)), (plain.view<float, 2>()(r, c)));
    }
  }
  EXPECT_EQ((wide.view<float, 2>()(0, 7)), 0);
}

// A sum that goes on from what y holds takes the same steps as one that was never interrupted.
TEST(Linear, AccumulatedPiecesGiveTheBitsOfTheWhole) {
  const Tensor x = normal_tensor(DType::f32, 1, 130, 300), w = normal_tensor(DType::f32, 2, 80, 300),
               bias = normal_tensor(DType::f32, 3, 80);
  const auto xv = x.view<float, 2>();
  for (const std::ptrdiff_t rows : {1, 7, 130}) {
    for (const std::ptrdiff_t outputs : {70, 80}) {
      SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(outputs));
      const auto some = xv.slice(0, 0, rows);
      const auto wv = w.view<float, 2>().slice(0, 0, outputs);
      const LinearOptions last{.bias = bias.view<float, 1>().slice(0, 0, outputs)};
      Tensor whole = Tensor::empty(DType::f32, rows, outputs), plain = Tensor::empty(DType::f32, rows, outputs);
      linear(some, PackedWeight(wv), whole, last);
      linear(some, PackedWeight(wv), plain);
      for (const bool is_wide : {false, true}) {
        Tensor memory = Tensor::zeros(DType::f32, rows, 2 * outputs);
        const View<float, 2> y(memory.view<float, 2>().data(), {rows, outputs}, {2 * outputs, is_wide ? 2 : 1});
        for (const LinearOptions& end : {LinearOptions(), last}) {
          linear(some.slice(1, 0, 90), PackedWeight(wv.slice(1, 0, 90)), y);
          linear(some.slice(1, 90, 96), PackedWeight(wv.slice(1, 90, 96)), y, {.accumulate = true});
          LinearOptions options = end;
          options.accumulate = true;
          linear(some.slice(1, 96, 300), PackedWeight(wv.slice(1, 96, 300)), y, options);
          const auto expected = (end.bias.wanted() ? whole : plain).view<float, 2>();
          for (std::ptrdiff_t r = 0; r < rows; ++r) {
            for (std::ptrdiff_t c = 0; c < outputs; ++c) ASSERT_EQ(y(r, c), expected(r, c)) << r << ", " << c;
          }
        }
      }
    }
  }
  Tensor y = Tensor::zeros(DType::f32, 130, 80);
  EXPECT_EQ(message_of([&] { linear(x, PackedWeight(w, WeightStorage::int8), y, {.accumulate = true}); }),
            "linear: accumulate: true with an int8 weight, expected false, since its sums are scaled");
}

TEST(Linear, ARowHasTheSameBitsAloneAndOnAnyThreads) {
  const Tensor x = normal_tensor(DType::f32, 1, 230, 65), bias = normal_tensor(DType::f32, 3, 130);
  const PackedWeight w(normal_tensor(DType::f32, 2, 130, 65));
  const LinearOptions options{.bias = bias, .activation = Activation::gelu};
  Tensor all = Tensor::empty(DType::f32, 230, 130);
  linear(x, w, all, options);
  for (const int threads : {1, 2, 3, 7}) {
    Context context({.threads = threads});
    Tensor again = Tensor::empty(DType::f32, 230, 130);
    linear(x, w, again, options, context);
    EXPECT_TRUE(std::equal(all.values<float>().begin(), all.values<float>().end(), again.values<float>().begin()));
  }
  for (const std::ptrdiff_t row : {0, 5, 95, 96, 229}) {
    Tensor alone = Tensor::empty(DType::f32, 1, 130);
    linear(x.view<float, 2>().slice(0, row, row + 1), w, alone, options);
    EXPECT_TRUE(std::equal(alone.values<float>().begin(), alone.values<float>().end(),
                           all.values<float>().begin() + row * 130));
  }
}

// The bits that a row has in a large product, by one row alone, by few, and by threads, for every storage.
TEST(Linear, StorageAndBatchSizeLeaveARowsBitsAlone) {
  const Tensor x = normal_tensor(DType::f32, 1, 50, 1100), weight = normal_tensor(DType::f32, 2, 200, 1100);
  Context two({.threads = 2});
  for (const WeightStorage storage : {WeightStorage::full, WeightStorage::bf16, WeightStorage::int8}) {
    const PackedWeight w(weight, storage);
    Tensor all = Tensor::empty(DType::f32, 50, 200);
    linear(x, w, all);
    for (const std::ptrdiff_t rows : {1, 2, 5, 6, 7, 16, 30}) {
      Tensor some = Tensor::empty(DType::f32, rows, 200);
      linear(x.view<float, 2>().slice(0, 3, 3 + rows), w, some, {}, two);
      EXPECT_TRUE(
          std::equal(some.values<float>().begin(), some.values<float>().end(), all.values<float>().begin() + 600));
    }
  }
}

TEST(Linear, NarrowWeightsAreWithinTheirRounding) {
  const Tensor x = normal_tensor(DType::f32, 1, 9, 300), weight = normal_tensor(DType::f32, 2, 70, 300);
  const Tensor bias = normal_tensor(DType::f32, 3, 70), residual = normal_tensor(DType::f32, 4, 9, 70);
  const std::vector<double> exact = expected(x, weight, bias, residual, Activation::none);
  for (const WeightStorage storage : {WeightStorage::bf16, WeightStorage::int8}) {
    const PackedWeight w(weight, storage);
    EXPECT_EQ(w.storage(), storage);
    EXPECT_EQ(w.dtype(), DType::f32);
    Tensor y = Tensor::empty(DType::f32, 9, 70);
    linear(x, w, y, {.bias = bias, .residual = residual});
    // The stored weights are the specification: the product with them is exact to f32's rounding.
    Tensor stored = weight.clone();
    for (std::ptrdiff_t n = 0; n < 70; ++n) {
      const std::span<float> row = stored.values<float>().subspan(static_cast<std::size_t>(n) * 300, 300);
      float largest = 0;
      for (const float v : row) largest = std::max(largest, std::abs(v));
      const auto scale = static_cast<float>(static_cast<double>(largest) / 127);
      for (float& v : row) {
        v = storage == WeightStorage::bf16
                ? to_float(to_bf16(v))
                : scale * static_cast<float>(std::nearbyint(static_cast<double>(v) / static_cast<double>(scale)));
      }
    }
    const std::vector<double> specified = expected(x, stored, bias, residual, Activation::none), found = values_of(y);
    double error = 0, rounding = 0;
    for (std::size_t i = 0; i < exact.size(); ++i) {
      error = std::max(error, std::abs(found[i] - specified[i]));
      rounding = std::max(rounding, std::abs(found[i] - exact[i]));
    }
    // 300 sums of up to 60 are rounded to half a unit of 4e-6, which walk sqrt(300) times that far: 3e-5; twice.
    EXPECT_LE(error, 6e-5);
    // Weights err by a uniform part of their unit: bf16 2^-9 / sqrt(3), int8 3.2 / 254 / sqrt(3), sqrt(300) times; x 5.
    EXPECT_LE(rounding, storage == WeightStorage::bf16 ? 0.1 : 0.65);
    EXPECT_GE(rounding, 1e-3);
  }
}

TEST(Linear, OutputsAloneShareTheirBits) {
  const Tensor x = normal_tensor(DType::f32, 1, 20, 33), weight = normal_tensor(DType::f64, 2, 90, 33);
  for (const WeightStorage storage : {WeightStorage::full, WeightStorage::bf16, WeightStorage::int8}) {
    const PackedWeight w(storage == WeightStorage::full ? weight : weight.to(DType::f32), storage);
    Tensor all = Tensor::empty(DType::f64, 20, 90), part = Tensor::empty(DType::f64, 20, 43);
    linear(x, w, all);
    linear(x, w.outputs(32, 75), part);
    for (int c = 0; c < 43; ++c) EXPECT_EQ((part.view<double, 2>()(19, c)), (all.view<double, 2>()(19, 32 + c)));
  }
  EXPECT_EQ(message_of([&] { PackedWeight(weight).outputs(8, 16); }),
            "PackedWeight::outputs: begin, end: 8, 16, expected a range within the 90 outputs that begins at a "
            "multiple of 16");
}

TEST(Linear, NormInTheSamePassGivesTheBitsOfTwo) {
  const Tensor weight = normal_tensor(DType::f32, 2, 200, 65), bias = normal_tensor(DType::f32, 3, 200);
  const NormOptions norm{.weight = bias, .bias = bias, .eps = 1e-3};
  const PackedWeight w(weight);
  for (const std::ptrdiff_t rows : {1, 3, 130}) {
    const Tensor x = normal_tensor(DType::f32, 1, rows, 65), residual = normal_tensor(DType::f32, 4, rows, 200);
    for (const int threads : {1, 3}) {
      Context context({.threads = threads});
      Tensor two = Tensor::empty(DType::f32, rows, 200), one = residual.clone();
      linear(x, w, two, {.bias = bias, .residual = residual}, context);
      layer_norm(two, two, norm, context);
      linear(x, w, one, {.bias = bias, .residual = one, .norm = norm}, context);
      EXPECT_TRUE(std::equal(two.values<float>().begin(), two.values<float>().end(), one.values<float>().begin()));
      // Rounded once, after the norm.
      Tensor half = Tensor::empty(DType::bf16, rows, 200);
      linear(x, w, half, {.bias = bias, .residual = residual, .norm = norm}, context);
      EXPECT_EQ(values_of(half), values_of(two.to(DType::bf16)));
    }
  }
}

TEST(Linear, ZeroExtents) {
  Tensor none = Tensor::empty(DType::f32, 0, 2), y = Tensor::empty(DType::f32, 3, 2);
  const Tensor bias = Tensor::of<float>({1, 2}, 2);
  linear(Tensor::empty(DType::f32, 0, 4), PackedWeight(Tensor::zeros(DType::f32, 2, 4)), none);
  linear(Tensor::empty(DType::f32, 3, 0), PackedWeight(Tensor::empty(DType::f32, 2, 0)), y, {.bias = bias});
  EXPECT_EQ((y.view<float, 2>()(2, 1)), 2);
}

TEST(Linear, Errors) {
  const Tensor x = Tensor::zeros(DType::f32, 3, 5);
  const PackedWeight w(Tensor::zeros(DType::f32, 2, 4));
  Tensor y = Tensor::zeros(DType::f32, 3, 2);
  EXPECT_EQ(message_of([&] { linear(x, w, y); }), "linear: x: 5 features, expected 4 as in the weight");
  const Tensor good = Tensor::zeros(DType::f32, 3, 4), words = Tensor::zeros(DType::i32, 3, 4);
  EXPECT_EQ(message_of([&] { linear(words, w, y); }), "linear: x: dtype i32, expected f32, f64, bf16 or f16");
  EXPECT_EQ(message_of([&] { linear(good, w, y, {.bias = Tensor::zeros(DType::f32, 3)}); }),
            "linear: bias: shape (3), expected (2) as the weight's outputs");
  EXPECT_EQ(message_of([&] { linear(good, w, y, {.residual = good}); }),
            "linear: residual: shape (3, 4), expected (3, 2) as in y");
  EXPECT_EQ(message_of([&] { linear(good, w, y, {.norm = NormOptions{.weight = Tensor::zeros(DType::f32, 3)}}); }),
            "linear: norm.weight: shape (3), expected (2) as the weight's outputs");
  const Tensor infinite = Tensor::of<float>({1, std::numeric_limits<float>::infinity()}, 1, 2);
  EXPECT_EQ(message_of([&] { PackedWeight(infinite, WeightStorage::int8); }),
            "PackedWeight: weight: a number that is not finite, expected none for int8");
  EXPECT_EQ(message_of([&] { PackedWeight(Tensor::zeros(DType::f32, 3)); }),
            "PackedWeight: weight: rank 1, expected 2");
}

}  // namespace
}  // namespace attn
