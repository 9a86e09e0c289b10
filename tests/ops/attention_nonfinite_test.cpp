// SPDX-License-Identifier: Apache-2.0
#include <sys/mman.h>
#include <unistd.h>

#include <attn/attention.hpp>
#include <cmath>
#include <limits>

#include "gtest/gtest.h"
#include "support/isas.hpp"
#include "support/tensors.hpp"

// A NaN or infinity in a visible position reaches the output; a hidden one never does; what no length or sequence holds
// is not even read.
namespace attn::test {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int kTokens = 70, kDim = 24, kPoisoned = 33;  // the poisoned key stands in the midst of a tile

void set(Tensor& t, std::ptrdiff_t head, std::ptrdiff_t token, std::ptrdiff_t d, double x) {
  const Tensor number = Tensor::of<double>({x}, 1).to(t.dtype());
  const std::ptrdiff_t at = (head * t.extent(2) + token) * t.extent(3) + d;
  std::memcpy(static_cast<char*>(t.data()) + static_cast<std::size_t>(at) * size_of(t.dtype()), number.data(),
              size_of(t.dtype()));
}

// Self-attention of two heads.
struct Operands {
  Tensor q, k, v;
  explicit Operands(DType dtype) {
    Random random(base_seed());
    q = normal_tensor(random, dtype, 1, 2, kTokens, kDim);
    k = normal_tensor(random, dtype, 1, 2, kTokens, kDim);
    v = normal_tensor(random, dtype, 1, 2, kTokens, kDim);
  }
  Tensor out(const AttentionOptions& options, Context& context) const {
    Tensor result = poisoned_tensor(q.dtype(), 1, 2, kTokens, kDim);
    attention(q, k, v, result, options, context);
    return result.to(DType::f64);
  }
};

// Options under which key 33 shows to some queries, and which those are.
struct Masking {
  const char* name;
  AttentionOptions options;
  bool (*sees)(int query);
};

class NonFinite : public testing::Test {
 protected:
  NonFinite() {
    for (int i = 0; i < kTokens; ++i) {
      ids_.values<std::int32_t>()[static_cast<std::size_t>(i)] = i / 8;
      for (int j = 0; j < kTokens; ++j) {
        const auto at = static_cast<std::size_t>(i * kTokens + j);
        keep_.values<bool>()[at] = i % 2 == 0;
        bias_.values<float>()[at] = i % 2 == 0 ? 0.25f : static_cast<float>(-kInfinity);
      }
    }
    maskings_ = {
        {"causal", {.mask = Mask::causal()}, [](int i) { return i >= kPoisoned; }},
        {"window", {.mask = Mask::window(4, 2)}, [](int i) { return i >= kPoisoned - 2 && i <= kPoisoned + 4; }},
        {"prefix", {.mask = Mask::prefix_lm(5)}, [](int i) { return i >= kPoisoned; }},
        {"documents", {.mask = Mask::documents(ids_)}, [](int i) { return i / 8 == kPoisoned / 8; }},
        {"keep", {.mask = Mask::keep(keep_)}, [](int i) { return i % 2 == 0; }},
        {"bias", {.bias = bias_}, [](int i) { return i % 2 == 0; }},
        {"lengths", {.mask = Mask::lengths({kPoisoned})}, [](int) { return false; }},
        {"packed", {.packing = {.cu_q = cu_, .cu_k = cu_}}, [](int i) { return i >= 30 && i < 50; }},
        {"causal, softcap, bias",
         {.mask = Mask::causal(), .softcap = 10, .bias = bias_},
         [](int i) { return i >= kPoisoned && i % 2 == 0; }},
    };
  }
  // Rows that see the key must be NaN or infinite in the elements that `reaches` names; others as if it were clean.
  void check(const Tensor& clean, const Tensor& dirty, const Masking& masking, bool (*reaches)(int d),
             const std::string& where) {
    const auto x = clean.view<double, 4>(), y = dirty.view<double, 4>();
    for (int h = 0; h < 2; ++h) {
      for (int i = 0; i < kTokens; ++i) {
        for (int d = 0; d < kDim; ++d) {
          if (h == 1 && masking.sees(i) && reaches(d)) {
            ASSERT_FALSE(std::isfinite(y(0, h, i, d))) << where << ", query " << i << ", element " << d;
          } else {
            ASSERT_EQ(x(0, h, i, d), y(0, h, i, d)) << where << ", query " << i << ", element " << d;
          }
        }
      }
    }
  }

  Tensor ids_ = Tensor::empty(DType::i32, 1, kTokens);
  Tensor keep_ = Tensor::empty(DType::boolean, 1, 1, kTokens, kTokens);
  Tensor bias_ = Tensor::empty(DType::f32, 1, 1, kTokens, kTokens);
  std::vector<std::int32_t> cu_{0, 30, 50, kTokens};
  std::vector<Masking> maskings_;
};

TEST_F(NonFinite, ReachesWhoSeesItAndNobodyElse) {
  for (const std::string& isa : isas_to_test()) {
    Context context({.threads = 2, .isa = isa});
    for (const DType dtype : {DType::f32, DType::f64, DType::bf16, DType::f16}) {
      const Operands clean(dtype);
      for (const Masking& masking : maskings_) {
        const Tensor expected = clean.out(masking.options, context);
        const std::string where = isa + ", " + std::string(name_of(dtype)) + ", " + masking.name;
        // A NaN in a key spoils its score, and so the whole row.
        Operands dirty(dtype);
        set(dirty.k, 1, kPoisoned, 7, kNaN);
        check(
            expected, dirty.out(masking.options, context), masking, [](int) { return true; }, where + ", k NaN");
        // In a value it spoils its own element.
        for (const double x : {kNaN, kInfinity, -kInfinity}) {
          Operands spoilt(dtype);
          set(spoilt.v, 1, kPoisoned, 7, x);
          check(
              expected, spoilt.out(masking.options, context), masking, [](int d) { return d == 7; }, where + ", v");
        }
      }
    }
  }
}

TEST_F(NonFinite, InAHiddenKeyAndValueNeverReaches) {
  Context context({.threads = 2});
  const Masking nobody{"", {}, [](int) { return false; }};
  Tensor drop = Tensor::zeros(DType::u8, 1, 1, 1, kTokens);
  drop.values<std::uint8_t>()[kPoisoned] = 1;
  for (const double x : {kNaN, kInfinity, -kInfinity}) {
    const Operands clean(DType::f32);
    Operands dirty(DType::f32);
    for (int d = 0; d < kDim; ++d) {
      set(dirty.k, 1, kPoisoned, d, x);
      set(dirty.v, 1, kPoisoned, d, x);
    }
    const AttentionOptions options{.mask = Mask::drop(drop)};
    check(
        clean.out(options, context), dirty.out(options, context), nobody, [](int) { return false; }, "drop");
  }
}

TEST_F(NonFinite, QuerySpoilsItsOwnRow) {
  Context context({.threads = 1});
  const Operands clean(DType::f32);
  Operands dirty(DType::f32);
  set(dirty.q, 1, kPoisoned, 3, kNaN);
  const Masking own{"", {}, [](int i) { return i == kPoisoned; }};
  check(
      clean.out({}, context), dirty.out({}, context), own, [](int) { return true; }, "q");
  // Without a visible key even a NaN query gives zeros.
  const Tensor nothing = Tensor::zeros(DType::boolean, 1, 1, 1, 1);
  const Tensor out = dirty.out({.mask = Mask::keep(nothing)}, context);
  for (const double x : out.values<double>()) ASSERT_EQ(x, 0);
}

// A score of -inf hides its pair as a bias of -inf does, so that a row of such scores is an empty one.
TEST_F(NonFinite, RowOfScoresOfMinusInfinityIsEmpty) {
  for (const std::string& isa : isas_to_test()) {
    Context context({.threads = 1, .isa = isa});
    Operands x(DType::f32);
    for (int j = 0; j < kTokens; ++j) set(x.k, 0, j, 0, -kInfinity);
    set(x.q, 0, 5, 0, 1);
    const Tensor out = x.out({}, context);
    for (int d = 0; d < kDim; ++d) ASSERT_EQ((out.view<double, 4>()(0, 0, 5, d)), 0);
  }
}

// An empty row is 0 whatever the sink, which is then all of lse; elsewhere a sink that is no number reaches the row,
// but not the weights of what is hidden.
TEST_F(NonFinite, SinkReachesRowsThatSeeAKey) {
  Tensor keep = Tensor::zeros(DType::boolean, 1, 1, kTokens, kTokens);
  keep.values<bool>()[0] = true;  // query 0 sees key 0; the others see nothing
  for (const std::string& isa : isas_to_test()) {
    Context context({.threads = 1, .isa = isa});
    for (const double x : {kNaN, kInfinity}) {
      const Operands operands(DType::f32);
      const Tensor sink = Tensor::of<float>({0.5f, static_cast<float>(x)}, 2);
      Tensor out = poisoned_tensor(DType::f32, 1, 2, kTokens, kDim), lse = poisoned_tensor(DType::f32, 1, 2, kTokens);
      Tensor weights = poisoned_tensor(DType::f32, 1, 2, kTokens, kTokens);
      attention(operands.q, {operands.k, operands.v}, {.out = out, .lse = lse, .weights = weights},
                {.mask = Mask::keep(keep), .sink = sink}, context);
      const auto o = out.view<float, 4>(), w = weights.view<float, 4>();
      const auto l = lse.view<float, 3>();
      EXPECT_TRUE(std::isnan(o(0, 1, 0, 3)) && std::isnan(l(0, 1, 0)) && std::isnan(w(0, 1, 0, 0)));
      EXPECT_EQ(w(0, 1, 0, 1), 0);
      for (int i = 1; i < kTokens; ++i) {
        ASSERT_EQ(o(0, 1, i, 3), 0);
        ASSERT_EQ(w(0, 1, i, 0), 0);
        ASSERT_TRUE(std::isnan(x) ? std::isnan(l(0, 1, i)) : l(0, 1, i) == static_cast<float>(x));
      }
    }
  }
}

// Memory of `readable` bytes that ends where touching the next byte kills the program.
class FencedMemory {
 public:
  explicit FencedMemory(std::size_t readable)
      : page_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))), whole_((readable + page_ - 1) / page_ * page_) {
    void* at = mmap(nullptr, whole_ + kFence * page_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) throw std::bad_alloc();
    base_ = static_cast<char*>(at);
    mprotect(base_ + whole_, kFence * page_, PROT_NONE);
    data_ = base_ + whole_ - readable;
  }
  ~FencedMemory() { munmap(base_, whole_ + kFence * page_); }
  FencedMemory(const FencedMemory&) = delete;
  FencedMemory& operator=(const FencedMemory&) = delete;
  template <class T>
  T* as() const {
    return reinterpret_cast<T*>(data_);
  }

 private:
  static constexpr std::size_t kFence = 64;
  std::size_t page_, whole_;
  char *base_, *data_;
};

TEST(AttentionReads, NothingBeyondALengthOrOutsideOfTheSequences) {
  constexpr int kLength = 21;  // of 100 keys; the last one's last element is the last that can be read
  FencedMemory k(sizeof(float) * kLength * kDim), v(sizeof(float) * kLength * kDim);
  Random random(base_seed());
  for (int i = 0; i < kLength * kDim; ++i) {
    k.as<float>()[i] = static_cast<float>(random.normal());
    v.as<float>()[i] = static_cast<float>(random.normal());
  }
  const Tensor q = normal_tensor(random, DType::f32, 1, 1, 10, kDim);
  const auto call = [&](int keys, const AttentionOptions& options, const char* isa) {
    Context context({.threads = 1, .isa = isa});
    Tensor out = poisoned_tensor(DType::f32, 1, 1, 10, kDim), weights = poisoned_tensor(DType::f32, 1, 1, 10, keys);
    Tensor scores = poisoned_tensor(DType::f32, 1, 1, 10, keys);
    attention(q, {view(k.as<float>(), 1, 1, keys, kDim), view(v.as<float>(), 1, 1, keys, kDim)},
              {.out = out, .weights = weights, .scores = scores}, options, context);
    for (int i = 0; i < 10; ++i) {
      for (int j = kLength; j < keys; ++j) {
        EXPECT_EQ((weights.view<float, 4>()(0, 0, i, j)), 0);
        EXPECT_EQ((scores.view<float, 4>()(0, 0, i, j)), static_cast<float>(-kInfinity));
      }
    }
    return out;
  };
  const std::vector<std::int32_t> cu_q{0, 10}, cu_k{0, kLength};
  for (const std::string& isa : isas_to_test()) {
    const Tensor exact = call(kLength, {}, isa.c_str());
    EXPECT_TRUE(same_bits(exact, call(100, {.mask = Mask::lengths({kLength})}, isa.c_str())));
    EXPECT_TRUE(same_bits(exact, call(100, {.packing = {.cu_q = cu_q, .cu_k = cu_k}}, isa.c_str())));
  }
}

}  // namespace
}  // namespace attn::test
