// SPDX-License-Identifier: Apache-2.0
#include "support/attention_grad_data.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "support/closeness.hpp"
#include "support/isas.hpp"
#include "support/random.hpp"

namespace attn::test {
namespace {

// Gradients need a place for each element.
Layout of_output(Layout layout) { return layout == Layout::broadcast ? Layout::dense : layout; }

template <int R>
double largest_of(const GuardedArray<R>& x) {
  return x.wanted() ? largest(x.values()) : 0;
}

// Against the largest element expected, or `scale`, the size of the terms that its sums have: they may cancel.
template <int R>
std::string compare(const char* what, const GuardedArray<R>& found, DType dtype, const std::vector<double>& expected,
                    double allowed, double scale) {
  if (!found.wanted()) return "";
  const std::vector<double> values = found.values();
  if (values.size() != expected.size()) return std::string(what) + ": another size than the reference's; ";
  Tolerance tolerance{.out = allowed, .rounded = 3};
  OutError error = out_error(values, expected, dtype, tolerance);
  const bool is_rounded = dtype == DType::bf16 || dtype == DType::f16;
  const double terms = scale * (is_rounded ? std::sqrt(static_cast<double>(values.size())) : 1);
  error.allowed = std::max(error.allowed, terms * std::max(allowed, is_rounded ? 0.0 : rounding_of(dtype)));
  if (error.ok()) return "";
  std::ostringstream text;
  text << what << ": error " << error.found << ", allowed " << error.allowed << "; ";
  return text.str();
}

}  // namespace

std::vector<std::string> isas_for(DType dtype) {
  std::vector<std::string> isas = isas_to_test();
  if (dtype != DType::bf16) std::erase_if(isas, has_bf16_products);
  return isas;
}

AttentionGradData::AttentionGradData(const AttentionCase& described) : c(described), data(described) {
  Random random(c.seed + 500);
  const Extents<4>& q = data.q.extents();
  const DType compute = c.computes_f64() ? DType::f64 : DType::f32;
  out = {compute, {q[0], q[1], q[2], c.dims.v}, c.out_layout};
  lse = {compute, {q[0], q[1], q[2]}, c.out_layout};
  grad_out = {c.out, {q[0], q[1], q[2], c.dims.v}, c.v_layout};
  grad_out.fill([&](const auto&) { return random.normal(); });
  if (c.number % 2 == 0) {
    grad_lse = {c.map_dtype, {q[0], q[1], q[2]}, c.out_layout};
    grad_lse.fill([&](const auto&) { return random.normal(); });
  }
  dq = {c.q, data.q.extents(), of_output(c.q_layout)};
  dk = {c.k, data.k.extents(), of_output(c.k_layout)};
  dv = {c.v, data.v.extents(), of_output(c.v_layout)};
  const Layout layout = of_output(c.options_layout);
  if (data.spec.bias.wanted()) dbias = {c.options_dtype, data.spec.bias.extents(), layout};
  if (data.spec.sink.wanted()) dsink = {c.options_dtype, data.spec.sink.extents(), layout};
}

void AttentionGradData::forward(Context& context) {
  attention(data.q.in(), {data.k.in(), data.v.in()}, {.out = out.out(), .lse = lse.out()}, build(data.spec), context);
}

void AttentionGradData::backward(Context& context, GradWrite write) {
  attention_backward(output_grads(), saved(), grads(write), build(data.spec), context);
}

AttentionSaved AttentionGradData::saved() const {
  return {.q = data.q.in(), .k = data.k.in(), .v = data.v.in(), .out = out.in(), .lse = lse.in()};
}

AttentionGrads AttentionGradData::grads(GradWrite write) {
  return {.dq = dq.out(), .dk = dk.out(), .dv = dv.out(), .dbias = dbias.out(), .dsink = dsink.out(), .write = write};
}

void AttentionGradData::poison_grads() {
  dq.poison();
  dk.poison();
  dv.poison();
  dbias.poison();
  dsink.poison();
}

bool AttentionGradData::guards_hold() const {
  return data.guards_hold() && out.guards_hold() && lse.guards_hold() && grad_out.guards_hold() &&
         grad_lse.guards_hold() && dq.guards_hold() && dk.guards_hold() && dv.guards_hold() && dbias.guards_hold() &&
         dsink.guards_hold();
}

kernels::reference::AttentionInputGrads AttentionGradData::reference() const {
  return reference_attention_backward(data.q.in(), data.k.in(), data.v.in(), data.spec,
                                      {.out = grad_out.in(), .lse = grad_lse.in()});
}

std::string AttentionGradData::complaint(const kernels::reference::AttentionInputGrads& expected, double slack) const {
  const double allowed = slack * (c.computes_f64() ? 3e-13 : c.q_magnitude > 1 ? 2e-5 : 6e-6);
  const double scale = std::abs(data.spec.scale.value_or(1 / std::sqrt(static_cast<double>(c.dims.qk))));
  const double survivors = c.dropout_p < 1 ? 1 / (1 - c.dropout_p) : 0;
  const double ds = survivors * largest_of(grad_out) * largest_of(data.v) * std::sqrt(static_cast<double>(c.dims.v)) +
                    largest_of(grad_lse);
  std::string wrong = compare("dq", dq, c.q, expected.dq, allowed, ds * scale * largest_of(data.k));
  wrong += compare("dk", dk, c.k, expected.dk, allowed, ds * scale * largest_of(data.q));
  wrong += compare("dv", dv, c.v, expected.dv, allowed, survivors * largest_of(grad_out));
  wrong += compare("dbias", dbias, c.options_dtype, expected.dbias, allowed, ds);
  wrong += compare("dsink", dsink, c.options_dtype, expected.dsink, allowed, ds);
  if (!guards_hold()) wrong += "wrote outside of its outputs";
  return wrong;
}

std::vector<std::vector<std::uint64_t>> AttentionGradData::bits() const {
  return {dq.bits(), dk.bits(), dv.bits(), dbias.bits(), dsink.bits()};
}

}  // namespace attn::test
