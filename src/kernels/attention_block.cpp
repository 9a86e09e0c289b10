// SPDX-License-Identifier: Apache-2.0
#include "kernels/attention_block.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/convert.hpp"

namespace attn::kernels {
namespace {

// Calls f with a typed pointer to what `dtype` says `data` is, so that the choice is made once and not per element.
template <class F>
void with_type(DType dtype, const void* data, const F& f) noexcept {
  switch (dtype) {
    case DType::f32:
      return f(static_cast<const float*>(data));
    case DType::f64:
      return f(static_cast<const double*>(data));
    case DType::bf16:
      return f(static_cast<const bf16*>(data));
    case DType::f16:
      return f(static_cast<const f16*>(data));
    case DType::boolean:
    case DType::u8:
      return f(static_cast<const std::uint8_t*>(data));
    case DType::i32:
      return f(static_cast<const std::int32_t*>(data));
    case DType::i64:
      return f(static_cast<const std::int64_t*>(data));
    default:
      return;
  }
}

template <class T, class From>
T number(From x) noexcept {
  if constexpr (std::is_same_v<From, bf16> || std::is_same_v<From, f16>) {
    return static_cast<T>(base::widen(x));
  } else {
    return static_cast<T>(x);
  }
}

// Lane i's query, a row of the task; padding lanes repeat the last one, which is always there to be read.
std::ptrdiff_t row_of(const PairBlock& block, std::ptrdiff_t lane) noexcept {
  return block.first_query + std::min(lane, block.queries - 1);
}

template <class T>
void hide_by_interval(const AttentionTask& task, const PairBlock& block, T* dst) noexcept {
  for (std::ptrdiff_t i = 0; i < block.lanes; ++i) {
    const std::ptrdiff_t row = row_of(block, i);
    const std::int64_t begin = task.begin[row] - block.first_key, end = task.end[row] - block.first_key;
    for (std::ptrdiff_t j = 0; j < block.keys; ++j) dst[j * block.lanes + i] = j < begin || j >= end ? T{1} : T{0};
  }
}

template <class T>
void hide_by_pairs(const PairMask& mask, const PairBlock& block, T* dst) noexcept {
  const auto* pairs = static_cast<const std::uint8_t*>(mask.pairs.data);
  for (std::ptrdiff_t i = 0; i < block.lanes; ++i) {
    const std::uint8_t* row =
        pairs + row_of(block, i) * mask.pairs.row_stride + block.first_key * mask.pairs.column_stride;
    for (std::ptrdiff_t j = 0; j < block.keys; ++j) {
      if ((row[j * mask.pairs.column_stride] != 0) != mask.keep) dst[j * block.lanes + i] = T{1};
    }
  }
}

template <class T>
void hide_by_documents(const AttentionTask& task, const DocumentIds& ids, const PairBlock& block, T* dst) noexcept {
  with_type(ids.dtype, ids.data, [&](const auto* id) {
    for (std::ptrdiff_t i = 0; i < block.lanes; ++i) {
      const std::ptrdiff_t query = row_of(block, i);
      // A row that sees nothing may stand outside the ids.
      if (task.begin[query] >= task.end[query]) continue;
      const auto own = number<std::int64_t>(id[task.position[query] * ids.stride]);
      for (std::ptrdiff_t j = 0; j < block.keys; ++j) {
        if (number<std::int64_t>(id[(block.first_key + j) * ids.stride]) != own) dst[j * block.lanes + i] = T{1};
      }
    }
  });
}

template <class T>
void hide_by_bias(const AttentionTask& task, const PairBlock& block, T* dst) noexcept {
  with_type(task.bias.dtype, task.bias.data, [&](const auto* bias) {
    for (std::ptrdiff_t i = 0; i < block.lanes; ++i) {
      const auto* row = bias + row_of(block, i) * task.bias.row_stride + block.first_key * task.bias.column_stride;
      for (std::ptrdiff_t j = 0; j < block.keys; ++j) {
        const T x = number<T>(row[j * task.bias.column_stride]);
        if (x == -std::numeric_limits<T>::infinity()) dst[j * block.lanes + i] = T{1};
      }
    }
  });
}

}  // namespace

template <class T>
void load_rows(const Matrix& m, std::ptrdiff_t first, std::ptrdiff_t count, std::ptrdiff_t dim, T* dst) noexcept {
  with_type(m.dtype, m.data, [&](const auto* data) {
    for (std::ptrdiff_t r = 0; r < count; ++r) {
      const auto* row = data + (first + r) * m.row_stride;
      for (std::ptrdiff_t d = 0; d < dim; ++d) dst[r * dim + d] = number<T>(row[d * m.column_stride]);
    }
  });
}

template <class T>
void load_transposed(const Matrix& m, std::ptrdiff_t first, std::ptrdiff_t count, std::ptrdiff_t dim,
                     std::ptrdiff_t lanes, T factor, T* dst) noexcept {
  std::fill(dst, dst + dim * lanes, T{0});
  with_type(m.dtype, m.data, [&](const auto* data) {
    for (std::ptrdiff_t i = 0; i < count; ++i) {
      const auto* row = data + (first + i) * m.row_stride;
      for (std::ptrdiff_t d = 0; d < dim; ++d) dst[d * lanes + i] = number<T>(row[d * m.column_stride]) * factor;
    }
  });
}

template <class T>
void store_transposed(const T* src, std::ptrdiff_t lanes, const T* factor, const MutableMatrix& out,
                      std::ptrdiff_t first, std::ptrdiff_t count, std::ptrdiff_t dim) noexcept {
  for (std::ptrdiff_t i = 0; i < count; ++i) {
    const std::ptrdiff_t row = (first + i) * out.row_stride;
    // Adding 0 turns -0 into +0, so that skipping a block of hidden keys and adding its zeros agree in every bit.
    const auto element = [&](std::ptrdiff_t d) { return src[d * lanes + i] * factor[i] + T{0}; };
    if (out.dtype == dtype_of<T>) {
      T* to = static_cast<T*>(out.data) + row;
      for (std::ptrdiff_t d = 0; d < dim; ++d) to[d * out.column_stride] = element(d);
    } else {
      for (std::ptrdiff_t d = 0; d < dim; ++d)
        base::store_as(out.dtype, out.data, row + d * out.column_stride, element(d));
    }
  }
}

template <class T>
void store_pairs(const T* src, const PairBlock& block, const MutableMatrix& out, std::ptrdiff_t first_column) noexcept {
  for (std::ptrdiff_t i = 0; i < block.queries; ++i) {
    const std::ptrdiff_t row = (block.first_query + i) * out.row_stride;
    for (std::ptrdiff_t j = 0; j < block.keys; ++j) {
      base::store_as(out.dtype, out.data, row + (first_column + j) * out.column_stride, src[j * block.lanes + i]);
    }
  }
}

void fill_pairs(const PairBlock& block, const MutableMatrix& out, std::ptrdiff_t begin, std::ptrdiff_t end,
                double value) noexcept {
  for (std::ptrdiff_t i = 0; i < block.queries; ++i) {
    const std::ptrdiff_t row = (block.first_query + i) * out.row_stride;
    for (std::ptrdiff_t j = begin; j < end; ++j)
      base::store_as(out.dtype, out.data, row + j * out.column_stride, value);
  }
}

template <class T>
void bias_block(const AttentionTask& task, const PairBlock& block, T* dst) noexcept {
  std::fill(dst, dst + block.keys * block.lanes, T{0});
  with_type(task.bias.dtype, task.bias.data, [&](const auto* bias) {
    for (std::ptrdiff_t i = 0; i < block.lanes; ++i) {
      const auto* row = bias + row_of(block, i) * task.bias.row_stride + block.first_key * task.bias.column_stride;
      for (std::ptrdiff_t j = 0; j < block.keys; ++j) {
        const T x = number<T>(row[j * task.bias.column_stride]);
        dst[j * block.lanes + i] = x == -std::numeric_limits<T>::infinity() ? T{0} : x;
      }
    }
  });
  if (!task.has_alibi) return;
  const T slope = static_cast<T>(task.alibi_slope);
  for (std::ptrdiff_t i = 0; i < block.lanes; ++i) {
    const std::int64_t position = task.position[row_of(block, i)];
    for (std::ptrdiff_t j = 0; j < block.keys; ++j) {
      const std::int64_t distance = std::abs(position - (block.first_key + j));
      dst[j * block.lanes + i] -= slope * static_cast<T>(distance);
    }
  }
}

template <class T>
void hidden_block(const AttentionTask& task, const PairBlock& block, T* dst) noexcept {
  hide_by_interval(task, block, dst);
  for (const PairMask& mask : task.pair_masks) hide_by_pairs(mask, block, dst);
  for (const DocumentIds& ids : task.documents) hide_by_documents(task, ids, block, dst);
  if (task.bias.wanted()) hide_by_bias(task, block, dst);
}

template <class T>
void drop_block(const AttentionTask& task, const PairBlock& block, T* weights) noexcept {
  const DropoutRule& rule = *task.dropout.rule;
  const T factor = static_cast<T>(rule.survivor_factor());
  for (std::ptrdiff_t i = 0; i < block.queries; ++i) {
    const std::ptrdiff_t query = task.dropout.first_query + block.first_query + i;
    // Blocks start at multiples of 4 keys, so that the words of one call serve four of them.
    for (std::ptrdiff_t j = 0; j < block.keys; j += 4) {
      const PhiloxCounter words = rule.words(task.dropout.batch, task.dropout.head, query, (block.first_key + j) / 4);
      for (std::ptrdiff_t w = 0; w < std::min<std::ptrdiff_t>(4, block.keys - j); ++w) {
        T& weight = weights[(j + w) * block.lanes + i];
        weight = words[static_cast<std::size_t>(w)] >= rule.threshold() ? weight * factor : T{0};
      }
    }
  }
}

template <class T>
bool all_finite(const T* rows, std::ptrdiff_t row_stride, std::ptrdiff_t count, std::ptrdiff_t dim) noexcept {
  // x - x is 0 for finite x and NaN otherwise: a sum without branches, which the compiler turns into vectors.
  for (std::ptrdiff_t r = 0; r < count; ++r) {
    T sum = 0;
    for (std::ptrdiff_t d = 0; d < dim; ++d) {
      const T x = rows[r * row_stride + d];
      sum += x - x;
    }
    if (!(sum == 0)) return false;
  }
  return true;
}

#define ATTN_INSTANTIATE(T)                                                                                       \
  template void load_rows(const Matrix&, std::ptrdiff_t, std::ptrdiff_t, std::ptrdiff_t, T*) noexcept;            \
  template void load_transposed(const Matrix&, std::ptrdiff_t, std::ptrdiff_t, std::ptrdiff_t, std::ptrdiff_t, T, \
                                T*) noexcept;                                                                     \
  template void store_transposed(const T*, std::ptrdiff_t, const T*, const MutableMatrix&, std::ptrdiff_t,        \
                                 std::ptrdiff_t, std::ptrdiff_t) noexcept;                                        \
  template void store_pairs(const T*, const PairBlock&, const MutableMatrix&, std::ptrdiff_t) noexcept;           \
  template void bias_block(const AttentionTask&, const PairBlock&, T*) noexcept;                                  \
  template void hidden_block(const AttentionTask&, const PairBlock&, T*) noexcept;                                \
  template void drop_block(const AttentionTask&, const PairBlock&, T*) noexcept;                                  \
  template bool all_finite(const T*, std::ptrdiff_t, std::ptrdiff_t, std::ptrdiff_t) noexcept;
ATTN_INSTANTIATE(float)
ATTN_INSTANTIATE(double)
#undef ATTN_INSTANTIATE

}  // namespace attn::kernels
