// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

#include "gtest/gtest.h"
#include "support/attention_grad_data.hpp"
#include "support/random.hpp"

// A NaN or infinity reaches the gradients of what it is visible to; a pair that is hidden passes nothing on, whatever
// its query, key or derivative. Which gradients these are the f64 twin knows, which goes pair by pair.
namespace attn::test {
namespace {

constexpr std::ptrdiff_t kTokens = 70;

std::vector<AttentionCase> masked_cases() {
  const AttentionCase plain{.seed = base_seed() + 40,
                            .size = {1, kTokens, kTokens},
                            .heads = {2, 1},
                            .dims = {24, 20},
                            .align = Align::Kind::top_left};
  std::vector<AttentionCase> cases;
  for (const MaskKind mask : {MaskKind::none, MaskKind::causal, MaskKind::window, MaskKind::documents, MaskKind::keep,
                              MaskKind::causal_lengths, MaskKind::prefix_keep, MaskKind::empty_rows}) {
    cases.push_back(plain);
    cases.back().mask = mask;
  }
  cases.push_back(plain);
  cases.back().bias = BiasKind::with_infinity;
  cases.back().softcap = 10;
  cases.push_back(cases[1]);
  cases.back().packing = PackingKind::packed_with_gaps;
  cases.back().size = {3, 30, 30};
  cases.push_back(cases[2]);
  cases.back().dropout_p = 0.5;
  return cases;
}

std::string differences(const char* what, const GuardedArray<4>& found, const std::vector<double>& expected,
                        double allowed) {
  const std::vector<double> values = found.values();
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const bool alike = std::isfinite(expected[i])
                           ? std::abs(values[i] - expected[i]) < allowed * std::max(1.0, std::abs(expected[i]))
                           : !std::isfinite(values[i]);
    if (alike) continue;
    std::ostringstream text;
    text << what << ": found " << values[i] << ", expected " << expected[i] << " at " << i << "; ";
    return text.str();
  }
  return "";
}

class AttentionBackwardNonFinite : public testing::TestWithParam<DType> {};

TEST_P(AttentionBackwardNonFinite, ReachesWhatItIsVisibleToAndNothingElse) {
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  const double allowed = GetParam() == DType::bf16 ? 0.03 : 1e-4;
  for (AttentionCase c : masked_cases()) {
    c.q = c.k = c.v = c.out = GetParam();
    for (int operand = 0; operand < 4; ++operand) {
      for (const double poison : {nan, infinity}) {
        AttentionGradData data(c);
        GuardedArray<4>* arrays[] = {&data.data.q, &data.data.k, &data.data.v, &data.grad_out};
        arrays[operand]->set({0, 0, 33, 5}, poison);
        const auto expected = data.reference();
        for (const std::string& isa : isas_for(GetParam())) {
          Context context({.threads = 2, .isa = isa});
          data.forward(context);
          data.poison_grads();
          data.backward(context);
          EXPECT_EQ(differences("dq", data.dq, expected.dq, allowed) +
                        differences("dk", data.dk, expected.dk, allowed) +
                        differences("dv", data.dv, expected.dv, allowed),
                    "")
              << isa << ": operand " << operand << " holds " << poison << ": " << c.name();
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Dtypes, AttentionBackwardNonFinite, testing::Values(DType::f32, DType::bf16),
                         [](const auto& of) { return std::string(name_of(of.param)); });

}  // namespace
}  // namespace attn::test
