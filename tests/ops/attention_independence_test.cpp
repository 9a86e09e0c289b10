// SPDX-License-Identifier: Apache-2.0
#include <attn/attention.hpp>
#include <attn/observer.hpp>
#include <numeric>

#include "gtest/gtest.h"
#include "support/attention_cases.hpp"
#include "support/attention_data.hpp"
#include "support/isas.hpp"
#include "support/tensors.hpp"

// A row's bits depend on its query, its keys and the options: on nothing else.
namespace attn::test {
namespace {

using Bits = std::vector<std::vector<std::uint64_t>>;

Bits run(AttentionData& data, Context& context) {
  data.poison_outputs();
  attention(data.q.in(), {data.k.in(), data.v.in()}, data.outputs(), build(data.spec), context);
  return {data.out.bits(), data.lse.bits(), data.weights.bits(), data.scores.bits()};
}

// Counts calls, and keeps the lse that it is shown.
class Watcher : public AttentionObserver {
 public:
  void on_attention(const AttentionCall& call) override {
    ++calls;
    lse = copy_of(call.lse);
  }
  int calls = 0;
  Tensor lse;
};

TEST(AttentionIndependence, AnyNumberOfThreadsAndAnyObserverGiveTheSameBits) {
  Context one({.threads = 1}), two({.threads = 2}), three({.threads = 3}), seven({.threads = 7});
  Context observed({.threads = 2});
  Watcher watcher;
  observed.set_observer(&watcher);
  for (const AttentionCase& c : attention_cases()) {
    AttentionData data(c);
    const Bits expected = run(data, one);
    for (Context* context : {&two, &three, &seven, &observed}) {
      EXPECT_EQ(run(data, *context), expected) << context->threads() << " threads: " << c.name();
    }
  }
  EXPECT_EQ(watcher.calls, static_cast<int>(attention_cases().size()));
}

TEST(AttentionIndependence, TheObserverSeesTheLse) {
  Random random(base_seed());
  const Tensor q = normal_tensor(random, DType::f32, 1, 2, 20, 8);
  Tensor out = poisoned_tensor(DType::f32, 1, 2, 20, 8), lse = poisoned_tensor(DType::f32, 1, 2, 20);
  attention(q, {q, q}, {.out = out, .lse = lse});
  Context context;
  Watcher watcher;
  context.set_observer(&watcher);
  attention(q, q, q, out, {}, context);
  EXPECT_TRUE(same_bits(watcher.lse, lse));
}

TEST(AttentionIndependence, LayoutChangesNoBit) {
  Context context({.threads = 1});
  for (AttentionCase c : attention_cases()) {
    const auto broadcast = [](Layout layout) { return layout == Layout::broadcast; };
    if (broadcast(c.q_layout) || broadcast(c.k_layout) || broadcast(c.v_layout) || broadcast(c.options_layout))
      continue;
    AttentionData laid_out(c);
    c.q_layout = c.k_layout = c.v_layout = c.out_layout = c.options_layout = Layout::dense;
    AttentionData dense(c);
    EXPECT_EQ(run(laid_out, context), run(dense, context)) << c.name();
  }
}

// Sequences of self-attention, to be computed alone, as a padded batch, and packed.
struct Sequences {
  std::vector<int> lengths{40, 1, 17, 33, 64, 5, 130, 16};
  DType dtype;
  std::vector<Tensor> q, k, v;  // each (1, heads, length, dim)
  int longest = 130, total = std::accumulate(lengths.begin(), lengths.end(), 0);

  explicit Sequences(DType type) : dtype(type) {
    Random random(base_seed() + 3);
    for (const int n : lengths) {
      q.push_back(normal_tensor(random, dtype, 1, 4, n, 24));
      k.push_back(normal_tensor(random, dtype, 1, 2, n, 24));
      v.push_back(normal_tensor(random, dtype, 1, 2, n, 20));
    }
  }
  std::vector<std::int32_t> boundaries() const {
    std::vector<std::int32_t> cu{0};
    for (const int n : lengths) cu.push_back(cu.back() + n);
    return cu;
  }
  // Copies a sequence into tokens first ... of entry b of a larger tensor.
  static void place(const Tensor& sequence, Tensor& whole, std::ptrdiff_t b, std::ptrdiff_t first) {
    const std::size_t row = size_of(whole.dtype()) * static_cast<std::size_t>(whole.extent(3));
    for (std::ptrdiff_t h = 0; h < whole.extent(1); ++h) {
      char* to = static_cast<char*>(whole.data()) +
                 static_cast<std::size_t>((b * whole.extent(1) + h) * whole.extent(2) + first) * row;
      const auto rows = static_cast<std::size_t>(sequence.extent(2)) * row;
      std::memcpy(to, static_cast<const char*>(sequence.data()) + static_cast<std::size_t>(h) * rows, rows);
    }
  }
  Tensor padded(const std::vector<Tensor>& parts) const {
    Tensor whole = Tensor::zeros(dtype, 8, parts[0].extent(1), longest, parts[0].extent(3));
    for (std::size_t n = 0; n < 8; ++n) place(parts[n], whole, static_cast<std::ptrdiff_t>(n), 0);
    return whole;
  }
  Tensor packed(const std::vector<Tensor>& parts) const {
    Tensor whole = Tensor::zeros(dtype, 1, parts[0].extent(1), total, parts[0].extent(3));
    for (std::size_t n = 0; n < 8; ++n) place(parts[n], whole, 0, boundaries()[n]);
    return whole;
  }
};

Tensor tokens(const Tensor& whole, std::ptrdiff_t b, std::ptrdiff_t first, std::ptrdiff_t count) {
  const In<4> v(whole);
  const std::ptrdiff_t at = b * v.stride(0) + first * v.stride(2);
  const char* data = static_cast<const char*>(v.data()) + at * static_cast<std::ptrdiff_t>(size_of(v.dtype()));
  return copy_of<4>({v.dtype(), data, {1, v.extent(1), count, v.extent(3)}, v.strides()});
}

// Options that mean the same in all three calls. The bias and documents of a lone sequence are its part of all.
struct OptionSet {
  const char* name;
  Mask mask;
  bool bias, documents, rest;
};

class AttentionSequences : public testing::TestWithParam<DType> {
 protected:
  AttentionOptions options(const OptionSet& set, std::ptrdiff_t first_entry, std::ptrdiff_t entries) const {
    AttentionOptions made{.mask = set.mask};
    if (set.bias) {
      made.bias = In<4>(bias_.dtype(), static_cast<const float*>(bias_.data()) + first_entry * 4 * 130 * 130,
                        {entries, 4, 130, 130}, {4 * 130 * 130, 130 * 130, 130, 1});
    }
    if (set.documents) {
      made.mask = made.mask & Mask::documents(In<2>(ids_.dtype(), ids_.data(), {1, 130}, {130, 1}));
    }
    if (set.rest) {
      made.softcap = 5;
      made.sink = sink_;
      made.alibi = sink_;
    }
    return made;
  }

  Sequences x_{GetParam()};
  Random random_{base_seed() + 4};
  Tensor bias_ = normal_tensor(random_, DType::f32, 8, 4, 130, 130);
  Tensor sink_ = Tensor::of<float>({0.5f, 0.25f, 0.125f, 0.1f}, 4);
  Tensor ids_ = [] {
    Tensor ids = Tensor::empty(DType::i32, 1, 130);
    for (int j = 0; j < 130; ++j) ids.values<std::int32_t>()[static_cast<std::size_t>(j)] = j / 12 % 3;
    return ids;
  }();
};

// A lone call wants a bias and ids of its own extents: the same numbers, cut.
AttentionOptions cut(AttentionOptions options, int length) {
  if (options.bias.wanted()) {
    options.bias = In<4>(options.bias.dtype(), options.bias.data(), {1, 4, length, length}, options.bias.strides());
  }
  return options;
}

TEST_P(AttentionSequences, AlonePaddedAndPackedGiveTheSameBits) {
  const auto cu = x_.boundaries();
  const Tensor q8 = x_.padded(x_.q), k8 = x_.padded(x_.k), v8 = x_.padded(x_.v);
  const Tensor qp = x_.packed(x_.q), kp = x_.packed(x_.k), vp = x_.packed(x_.v);
  const OptionSet sets[] = {{"plain", {}, false, false, false},
                            {"causal", Mask::causal(), false, false, false},
                            {"window, softcap, sink, alibi", Mask::window(9, 3), false, false, true},
                            {"causal, bias", Mask::causal(), true, false, false},
                            {"documents, bias, rest", Mask::prefix_lm(3), true, true, true}};
  for (const std::string& isa : isas_to_test()) {
    for (const int threads : {1, 2, 3, 7}) {
      Context context({.threads = threads, .isa = isa});
      for (const OptionSet& set : sets) {
        AttentionOptions padded_options = options(set, 0, 8), packed_options = padded_options;
        padded_options.mask =
            padded_options.mask & Mask::lengths(std::vector<std::int64_t>(x_.lengths.begin(), x_.lengths.end()));
        packed_options.packing = {.cu_q = cu, .cu_k = cu};
        Tensor padded = poisoned_tensor(x_.dtype, 8, 4, 130, 20),
               packed = poisoned_tensor(x_.dtype, 1, 4, x_.total, 20);
        attention(q8, k8, v8, padded, padded_options, context);
        attention(qp, kp, vp, packed, packed_options, context);
        for (std::size_t n = 0; n < 8; ++n) {
          const int length = x_.lengths[n];
          Tensor alone = poisoned_tensor(x_.dtype, 1, 4, length, 20);
          AttentionOptions lone = cut(options(set, static_cast<std::ptrdiff_t>(n), 1), length);
          if (set.documents) {
            lone.mask = set.mask & Mask::documents(In<2>(DType::i32, ids_.data(), {1, length}, {130, 1}));
          }
          attention(x_.q[n], x_.k[n], x_.v[n], alone, lone, context);
          const auto where = ::testing::Message() << isa << ", " << threads << " threads, " << set.name << ", " << n;
          EXPECT_TRUE(same_bits(alone, tokens(padded, static_cast<std::ptrdiff_t>(n), 0, length))) << where;
          EXPECT_TRUE(same_bits(alone, tokens(packed, 0, cu[n], length))) << where;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Dtypes, AttentionSequences, testing::Values(DType::f32, DType::f64, DType::bf16, DType::f16),
                         [](const auto& each) { return std::string(name_of(each.param)); });

TEST(AttentionIndependence, OutMayBeTheQueryItself) {
  for (const int threads : {1, 3}) {
    Context context({.threads = threads});
    Random random(base_seed());
    Tensor q = normal_tensor(random, DType::f32, 2, 4, 150, 32);
    const Tensor k = normal_tensor(random, DType::f32, 2, 2, 90, 32);
    Tensor out = poisoned_tensor(DType::f32, 2, 4, 150, 32);
    attention(q, k, k, out, {}, context);
    attention(q, k, k, q, {}, context);
    EXPECT_TRUE(same_bits(q, out));
  }
}

TEST(AttentionIndependence, DropoutIsKeyedByPlaceSeedAndOffset) {
  Random random(base_seed());
  const Tensor q = normal_tensor(random, DType::f32, 2, 2, 64, 16);
  const auto dropped = [&](Dropout dropout) {
    Tensor out = poisoned_tensor(DType::f32, 2, 2, 64, 16);
    attention(q, q, q, out, {.dropout = dropout});
    return out;
  };
  const Tensor first = dropped({.p = 0.2, .seed = 1, .offset = 5});
  EXPECT_TRUE(same_bits(first, dropped({.p = 0.2, .seed = 1, .offset = 5})));
  EXPECT_FALSE(same_bits(first, dropped({.p = 0.2, .seed = 2, .offset = 5})));
  EXPECT_FALSE(same_bits(first, dropped({.p = 0.2, .seed = 1, .offset = 6})));
  EXPECT_FALSE(same_bits(first, dropped({.p = 0.2, .seed = 1, .offset = (std::uint64_t{1} << 32) + 5})));
}

}  // namespace
}  // namespace attn::test
