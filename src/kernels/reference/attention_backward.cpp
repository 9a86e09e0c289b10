// SPDX-License-Identifier: Apache-2.0
#include "kernels/reference/attention_backward.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/philox.hpp"
#include "kernels/reference/element.hpp"

namespace attn::kernels::reference {
namespace {

// One query of one entry and head: what the forward found, what comes back, and where it goes on to.
struct Row {
  const AttentionInputs& in;
  const AttentionResult& forward;
  AttentionInputGrads& grads;
  std::ptrdiff_t n, h, i;  // entry, query head, local query
  const double* q;         // (D)
  const double* k;         // (keys, D)
  const double* v;         // (keys, Dv)
  const double* grad_out;  // (Dv)
  double grad_lse;
  std::ptrdiff_t keys;
  std::size_t at_row;   // of (b, h, token) in (B, Hq, L)
  std::size_t at_pair;  // of (b, h, token, first key of the entry) in (B, Hq, L, S)
  double* dk;           // (keys, D)
  double* dv;           // (keys, Dv)
};

// 8 and 7, backwards. Forward: out = sum_j (factor_j weight_j) v_j, factor the dropout's. So
// dv_j += factor_j weight_j dout, and dweight_j = factor_j (dout . v_j). Returns dweight; hidden pairs have none.
std::vector<double> unmix(const Row& row, const std::vector<bool>& hidden) {
  const std::ptrdiff_t dim = row.in.v.extent(3);
  const DropoutRule rule(row.in.dropout_p, row.in.dropout_seed, row.in.dropout_offset);
  std::vector<double> dweight(hidden.size());
  for (std::ptrdiff_t j = 0; j < row.keys; ++j) {
    if (hidden[static_cast<std::size_t>(j)]) continue;
    const double factor = rule.keeps(row.n, row.h, row.i, j) ? rule.survivor_factor() : 0;
    const double weight = row.forward.weights[row.at_pair + static_cast<std::size_t>(j)];
    double dot = 0;
    for (std::ptrdiff_t d = 0; d < dim; ++d) {
      row.dv[j * dim + d] += factor * weight * row.grad_out[d];
      dot += row.grad_out[d] * row.v[j * dim + d];
    }
    dweight[static_cast<std::size_t>(j)] = factor * dot;
  }
  return dweight;
}

// 6 and 5, backwards. Forward: weight_j = exp(s_j - lse), lse = log(sum_j exp(s_j) + exp(sink)). Since
// dlse / ds_j = weight_j, with delta = sum_j weight_j dweight_j:
//   ds_j = weight_j (dweight_j - delta + dlse)   and   dsink = exp(sink - lse) (dlse - delta).
// Returns ds.
std::vector<double> unsoften(const Row& row, const std::vector<bool>& hidden, const std::vector<double>& dweight) {
  const double* weights = row.forward.weights.data() + row.at_pair;
  double delta = 0;
  for (std::size_t j = 0; j < hidden.size(); ++j) delta += hidden[j] ? 0 : weights[j] * dweight[j];
  std::vector<double> ds(hidden.size());
  for (std::size_t j = 0; j < hidden.size(); ++j) {
    if (!hidden[j]) ds[j] = weights[j] * (dweight[j] - delta + row.grad_lse);
  }
  if (row.in.sink.wanted()) {
    const double sink = element<1>(row.in.sink, {row.h}), lse = row.forward.lse[row.at_row];
    const double weight = sink == -std::numeric_limits<double>::infinity() ? 0 : std::exp(sink - lse);
    row.grads.dsink[static_cast<std::size_t>(row.h)] += weight * (row.grad_lse - delta);
  }
  return ds;
}

// 3, backwards. Forward: s = capped + bias - ALiBi. So dbias += ds, at the element that was broadcast to the pair.
void unbias(const Row& row, const std::vector<bool>& hidden, const std::vector<double>& ds) {
  const In<4>& bias = row.in.bias;
  const auto at = [&](int d, std::ptrdiff_t i) { return bias.extent(d) == 1 ? 0 : i; };
  const std::ptrdiff_t first = (at(0, row.n) * bias.extent(1) + at(1, row.h)) * bias.extent(2) + at(2, row.i);
  for (std::ptrdiff_t j = 0; j < row.keys; ++j) {
    if (hidden[static_cast<std::size_t>(j)]) continue;
    row.grads.dbias[static_cast<std::size_t>(first * bias.extent(3) + at(3, j))] += ds[static_cast<std::size_t>(j)];
  }
}

// 2 and 1, backwards. Forward: capped = c tanh(scaled / c), scaled = scale q . k_j. Since tanh' = 1 - tanh^2:
//   dscaled = ds (1 - (capped / c)^2),   dq += scale dscaled k_j,   dk_j += scale dscaled q.
void unscore(const Row& row, const std::vector<bool>& hidden, const std::vector<double>& ds) {
  const AttentionInputs& in = row.in;
  const std::ptrdiff_t dim = in.q.extent(3);
  double* dq = row.grads.dq.data() + row.at_row * static_cast<std::size_t>(dim);
  for (std::ptrdiff_t j = 0; j < row.keys; ++j) {
    if (hidden[static_cast<std::size_t>(j)]) continue;
    const double tanh = in.softcap ? row.forward.capped[row.at_pair + static_cast<std::size_t>(j)] / *in.softcap : 0;
    const double ddot = in.scale * ds[static_cast<std::size_t>(j)] * (1 - tanh * tanh);
    for (std::ptrdiff_t d = 0; d < dim; ++d) {
      dq[d] += ddot * row.k[j * dim + d];
      row.dk[j * dim + d] += ddot * row.q[d];
    }
  }
}

void row_backward(const Row& row) {
  std::vector<bool> hidden;
  for (std::ptrdiff_t j = 0; j < row.keys; ++j) hidden.push_back(is_hidden(row.in, row.n, row.h, row.i, j));
  const std::vector<double> dweight = unmix(row, hidden);
  const std::vector<double> ds = unsoften(row, hidden, dweight);
  if (row.in.bias.wanted()) unbias(row, hidden, ds);
  unscore(row, hidden, ds);
}

// The rows of one entry and query head.
void head_backward(const AttentionInputs& in, const AttentionResult& forward, const AttentionOutputGrads& grads,
                   std::ptrdiff_t n, std::ptrdiff_t h, AttentionInputGrads& result) {
  const Entry& entry = in.entries[static_cast<std::size_t>(n)];
  const std::ptrdiff_t heads = in.q.extent(1), queries = in.q.extent(2), dim = in.q.extent(3);
  const std::ptrdiff_t kv_heads = in.k.extent(1), keys = in.k.extent(2), dim_v = in.v.extent(3);
  const std::ptrdiff_t kv_head = h / (heads / kv_heads);
  const std::vector<double> q = gather(in.q, entry.batch, h, entry.q_begin, entry.queries);
  const std::vector<double> k = gather(in.k, entry.batch, kv_head, entry.k_begin, entry.keys);
  const std::vector<double> v = gather(in.v, entry.batch, kv_head, entry.k_begin, entry.keys);
  std::vector<double> grad_out(static_cast<std::size_t>(entry.queries * dim_v));
  if (grads.out.wanted()) grad_out = gather(grads.out, entry.batch, h, entry.q_begin, entry.queries);
  const std::ptrdiff_t first_key = (entry.batch * kv_heads + kv_head) * keys + entry.k_begin;
  for (std::ptrdiff_t i = 0; i < entry.queries; ++i) {
    const std::ptrdiff_t token = entry.q_begin + i;
    const auto at_row = static_cast<std::size_t>((entry.batch * heads + h) * queries + token);
    row_backward({.in = in,
                  .forward = forward,
                  .grads = result,
                  .n = n,
                  .h = h,
                  .i = i,
                  .q = q.data() + i * dim,
                  .k = k.data(),
                  .v = v.data(),
                  .grad_out = grad_out.data() + i * dim_v,
                  .grad_lse = grads.lse.wanted() ? element<3>(grads.lse, {entry.batch, h, token}) : 0,
                  .keys = entry.keys,
                  .at_row = at_row,
                  .at_pair = at_row * static_cast<std::size_t>(keys) + static_cast<std::size_t>(entry.k_begin),
                  .dk = result.dk.data() + first_key * dim,
                  .dv = result.dv.data() + first_key * dim_v});
  }
}

// The lse of a row outside every entry is the sink's logit itself.
void add_lone_sinks(const AttentionInputs& in, const In<3>& grad_lse, std::vector<double>& dsink) {
  std::vector<bool> held(static_cast<std::size_t>(in.q.extent(0) * in.q.extent(2)));
  for (const Entry& entry : in.entries) {
    const auto first = held.begin() + entry.batch * in.q.extent(2) + entry.q_begin;
    std::fill(first, first + entry.queries, true);
  }
  for (std::size_t row = 0; row < held.size(); ++row) {
    if (held[row]) continue;
    const auto at = static_cast<std::ptrdiff_t>(row);
    for (std::ptrdiff_t h = 0; h < in.q.extent(1); ++h) {
      dsink[static_cast<std::size_t>(h)] += element<3>(grad_lse, {at / in.q.extent(2), h, at % in.q.extent(2)});
    }
  }
}

}  // namespace

AttentionInputGrads attention_backward(const AttentionInputs& in, const AttentionOutputGrads& grads) {
  const auto zeros = [](std::ptrdiff_t count) { return std::vector<double>(static_cast<std::size_t>(count)); };
  const AttentionResult forward = attention(in);
  AttentionInputGrads result{.dq = zeros(in.q.extents().product()),
                             .dk = zeros(in.k.extents().product()),
                             .dv = zeros(in.v.extents().product()),
                             .dbias = zeros(in.bias.wanted() ? in.bias.extents().product() : 0),
                             .dsink = zeros(in.sink.wanted() ? in.q.extent(1) : 0)};
  for (std::size_t n = 0; n < in.entries.size(); ++n) {
    for (std::ptrdiff_t h = 0; h < in.q.extent(1); ++h) {
      head_backward(in, forward, grads, static_cast<std::ptrdiff_t>(n), h, result);
    }
  }
  if (in.sink.wanted() && grads.lse.wanted()) add_lone_sinks(in, grads.lse, result.dsink);
  return result;
}

}  // namespace attn::kernels::reference
