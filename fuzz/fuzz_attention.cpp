// SPDX-License-Identifier: Apache-2.0
#include <attn/attention.hpp>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "input.hpp"
#include "support/attention_cases.hpp"
#include "support/attention_data.hpp"
#include "support/attention_grad_data.hpp"
#include "support/attention_verdict.hpp"

namespace {

using attn::test::AttentionCase;
using attn::test::AttentionData;

// Numbers drawn from the input; 0 once it is used up.
class Bytes {
 public:
  Bytes(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}
  int below(int n) { return at_ < size_ ? data_[at_++] % n : 0; }

 private:
  const std::uint8_t* data_;
  std::size_t size_, at_ = 0;
};

// Any level of any factor of the tests' table, and sizes of its own: mostly a few tokens, since options and edges meet
// there as well and many calls fit into a second, and one call in 16 passes blocks of keys and tiles of queries.
AttentionCase draw_case(Bytes& bytes) {
  attn::test::LevelRow row;
  for (const int levels : attn::test::attention_factor_levels()) row.push_back(bytes.below(levels));
  AttentionCase c = attn::test::attention_case_of(row);
  c.size.batch = bytes.below(4);
  const bool large = bytes.below(16) == 15;
  const int most = large ? 48 : 20;
  c.size.queries = bytes.below(most);
  c.size.keys = bytes.below(most) + (large ? 96 * bytes.below(2) : 0);
  if (bytes.below(8) == 0) c.size.queries = c.size.keys;
  c.dims = {1 + bytes.below(most), 1 + bytes.below(most)};
  c.heads.kv = 1 + bytes.below(2);
  c.heads.query = c.heads.kv * (1 + bytes.below(3));
  // Whether positions are needed is what the table's rule is about; here they always are said where that could matter.
  if (c.size.queries != c.size.keys && c.align == attn::Align::Kind::unspecified) c.align = attn::Align::Kind::top_left;
  c.number = bytes.below(256);
  c.seed = static_cast<std::uint64_t>(1 + bytes.below(256));
  return c;
}

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
// every instruction set. Wrong semantics are looked for, not roundings: tolerances are ten times those of the tests.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto all = contexts();
  Bytes bytes(data, size);
  const AttentionCase c = draw_case(bytes);
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
