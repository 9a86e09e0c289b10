// SPDX-License-Identifier: Apache-2.0
#include <attn/attention.hpp>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "input.hpp"
#include "support/attention_cases.hpp"
#include "support/attention_data.hpp"
#include "support/attention_draw.hpp"
#include "support/attention_grad_data.hpp"
#include "support/attention_verdict.hpp"

namespace {

using attn::test::AttentionCase;
using attn::test::AttentionData;
using attn::test::draw_case;

// Numbers drawn from the input; 0 once it is used up.
class Bytes {
 public:
  Bytes(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}
  int below(int n) { return at_ < size_ ? data_[at_++] % n : 0; }

 private:
  const std::uint8_t* data_;
  std::size_t size_, at_ = 0;
};

std::vector<std::unique_ptr<attn::Context>> contexts() {
  std::vector<std::unique_ptr<attn::Context>> all;
  for (const std::string& isa : attn::available_isas()) {
    all.push_back(std::make_unique<attn::Context>(attn::ContextOptions{.threads = 1, .isa = isa}));
  }
  return all;
}

// The gradients of the same call, likewise.
void run_backward(const AttentionCase& c, const std::vector<std::unique_ptr<attn::Context>>& all) {
  attn::test::AttentionGradData call(c);
  const auto expected = call.reference();
  for (const auto& context : all) {
    call.forward(*context);
    call.poison_grads();
    call.backward(*context);
    const std::string wrong = call.complaint(expected, 10);
    if (!wrong.empty()) std::fprintf(stderr, "%s: %s\n  %s\n", context->isa().c_str(), wrong.c_str(), c.name().c_str());
    attn::fuzz::check(wrong.empty());
  }
}

}  // namespace

// attention and its backward: shapes, strides, dtypes and options in any combination give what the reference gives, on
// every instruction set of the build. Wrong semantics are looked for, not roundings: tolerances are ten times those of
// the tests.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto all = contexts();
  Bytes bytes(data, size);
  const AttentionCase c = draw_case([&](int n) { return bytes.below(n); });
  attn::test::Tolerance tolerance = c.tolerance();
  tolerance.out *= 10;
  tolerance.map *= 10;
  tolerance.rounded *= 3;
  AttentionData call(c);
  const auto expected = attn::test::reference_attention(call.q.in(), call.k.in(), call.v.in(), call.spec);
  const attn::AttentionOptions options = attn::test::build(call.spec);
  for (const auto& context : all) {
    call.poison_outputs();
    attn::attention(call.q.in(), {call.k.in(), call.v.in()}, call.outputs(), options, *context);
    const std::string wrong = attn::test::attention_complaint(c, tolerance, call, expected);
    if (!wrong.empty()) std::fprintf(stderr, "%s: %s\n  %s\n", context->isa().c_str(), wrong.c_str(), c.name().c_str());
    attn::fuzz::check(wrong.empty());
  }
  run_backward(c, all);
  return 0;
}
