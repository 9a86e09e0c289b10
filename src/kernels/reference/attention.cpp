// SPDX-License-Identifier: Apache-2.0
#include "kernels/reference/attention.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/philox.hpp"
#include "kernels/reference/element.hpp"

namespace attn::kernels::reference {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// One query of one entry and head, and where its results lie.
struct Row {
  const AttentionInputs& in;
  AttentionResult& result;
  std::ptrdiff_t n, h, i;  // entry, query head, local query
  const double* q;         // (D)
  const double* k;         // (keys, D)
  const double* v;         // (keys, Dv)
  std::ptrdiff_t keys;
  std::size_t at_row;   // of (b, h, token) in (B, Hq, L)
  std::size_t at_pair;  // of (b, h, token, first key of the entry) in (B, Hq, L, S)
};

// 1-4. Scores: scale * q.k, soft-cap, bias and ALiBi, mask. A pair that the mask or a bias of -inf hides is -inf,
// whatever its score (a NaN, too); `hidden` remembers it, since a visible score may be -inf as well.
std::vector<bool> score(const Row& row) {
  const AttentionInputs& in = row.in;
  const std::ptrdiff_t dim = in.q.extent(3);
  std::vector<bool> hidden(static_cast<std::size_t>(row.keys));
  for (std::ptrdiff_t j = 0; j < row.keys; ++j) {
    double dot = 0;
    for (std::ptrdiff_t d = 0; d < dim; ++d) dot += row.q[d] * row.k[j * dim + d];
    const double scaled = in.scale * dot;
    const double capped = in.softcap ? *in.softcap * std::tanh(scaled / *in.softcap) : scaled;
    const double bias = in.bias.wanted() ? element<4>(in.bias, {row.n, row.h, row.i, j}) : 0;
    double masked = capped + bias;
    if (in.alibi.wanted()) {
      const std::int64_t distance = in.position(row.n, row.i) - j;
      masked -= element<1>(in.alibi, {row.h}) * static_cast<double>(distance < 0 ? -distance : distance);
    }
    const bool hides = is_hidden(in, row.n, row.h, row.i, j);
    const std::size_t at = row.at_pair + static_cast<std::size_t>(j);
    row.result.scaled[at] = scaled;
    row.result.capped[at] = capped;
    row.result.masked[at] = hides ? -kInfinity : masked;
    hidden[static_cast<std::size_t>(j)] = hides;
  }
  return hidden;
}

// 5-6. Softmax over the visible keys and the sink, by way of the row's maximum so that exp cannot overflow:
// weight_j = exp(s_j - lse), lse = m + log(sum_j exp(s_j - m) + exp(sink - m)). Without a score above -inf (no key
// shows, or those that do are infinitely far) the weights stay 0, and lse is the sink's logit or -inf.
void soften(const Row& row, const std::vector<bool>& hidden) {
  const double* s = row.result.masked.data() + row.at_pair;
  double* weights = row.result.weights.data() + row.at_pair;
  const double sink = row.in.sink.wanted() ? element<1>(row.in.sink, {row.h}) : -kInfinity;
  const bool empty = std::all_of(s, s + row.keys, [](double x) { return x == -kInfinity; });
  double& lse = row.result.lse[row.at_row];
  lse = sink;
  if (empty) return;

  double m = sink;
  for (std::ptrdiff_t j = 0; j < row.keys; ++j) m = std::max(m, s[j]);
  double sum = sink == -kInfinity ? 0 : std::exp(sink - m);
  for (std::ptrdiff_t j = 0; j < row.keys; ++j) {
    weights[j] = hidden[static_cast<std::size_t>(j)] ? 0 : std::exp(s[j] - m);
    sum += weights[j];
  }
  lse = m + std::log(sum);
  for (std::ptrdiff_t j = 0; j < row.keys; ++j) {
    if (!hidden[static_cast<std::size_t>(j)]) weights[j] /= sum;
  }
}

// 7-8. Dropout, and the sum of the values. A hidden key adds nothing, not even 0 x NaN; a dropped one is multiplied by
// 0 as its weight says.
void mix(const Row& row, const std::vector<bool>& hidden) {
  const std::ptrdiff_t dim = row.in.v.extent(3);
  const DropoutRule rule(row.in.dropout_p, row.in.dropout_seed, row.in.dropout_offset);
  double* out = row.result.out.data() + row.at_row * static_cast<std::size_t>(dim);
  for (std::ptrdiff_t j = 0; j < row.keys; ++j) {
    if (hidden[static_cast<std::size_t>(j)]) continue;
    const double factor = rule.keeps(row.n, row.h, row.i, j) ? rule.survivor_factor() : 0;
    const double weight = row.result.weights[row.at_pair + static_cast<std::size_t>(j)] * factor;
    for (std::ptrdiff_t d = 0; d < dim; ++d) out[d] += weight * row.v[j * dim + d];
  }
}

}  // namespace

bool is_hidden(const AttentionInputs& in, std::ptrdiff_t n, std::ptrdiff_t h, std::ptrdiff_t i, std::ptrdiff_t j) {
  if (in.bias.wanted() && element<4>(in.bias, {n, h, i, j}) == -kInfinity) return true;
  return in.visible && !in.visible(n, h, i, j);
}

AttentionResult attention(const AttentionInputs& in) {
  // q (B, Hq, L, D), k (B, Hkv, S, D), v (B, Hkv, S, Dv) -> out (B, Hq, L, Dv); query head h reads kv head h / group.
  const std::ptrdiff_t batch = in.q.extent(0), heads = in.q.extent(1), queries = in.q.extent(2), dim = in.q.extent(3);
  const std::ptrdiff_t kv_heads = in.k.extent(1), keys = in.k.extent(2), dim_v = in.v.extent(3);
  const auto rows = static_cast<std::size_t>(batch * heads * queries);
  const auto pairs = rows * static_cast<std::size_t>(keys);

  AttentionResult result;
  result.out.assign(rows * static_cast<std::size_t>(dim_v), 0);
  result.weights.assign(pairs, 0);
  for (auto* scores : {&result.scaled, &result.capped, &result.masked}) scores->assign(pairs, -kInfinity);
  // A row outside every entry sees no key.
  for (std::size_t row = 0; row < rows; ++row) {
    const auto h = static_cast<std::ptrdiff_t>(row) / queries % heads;
    result.lse.push_back(in.sink.wanted() ? element<1>(in.sink, {h}) : -kInfinity);
  }

  for (std::size_t n = 0; n < in.entries.size(); ++n) {
    const Entry& entry = in.entries[n];
    for (std::ptrdiff_t h = 0; h < heads; ++h) {
      const std::ptrdiff_t kv_head = h / (heads / kv_heads);
      const std::vector<double> q = gather(in.q, entry.batch, h, entry.q_begin, entry.queries);
      const std::vector<double> k = gather(in.k, entry.batch, kv_head, entry.k_begin, entry.keys);
      const std::vector<double> v = gather(in.v, entry.batch, kv_head, entry.k_begin, entry.keys);
      for (std::ptrdiff_t i = 0; i < entry.queries; ++i) {
        const auto at_row = static_cast<std::size_t>((entry.batch * heads + h) * queries + entry.q_begin + i);
        const Row row{in,
                      result,
                      static_cast<std::ptrdiff_t>(n),
                      h,
                      i,
                      q.data() + i * dim,
                      k.data(),
                      v.data(),
                      entry.keys,
                      at_row,
                      at_row * static_cast<std::size_t>(keys) + static_cast<std::size_t>(entry.k_begin)};
        const std::vector<bool> hidden = score(row);
        soften(row, hidden);
        mix(row, hidden);
      }
    }
  }
  return result;
}

}  // namespace attn::kernels::reference
