// SPDX-License-Identifier: Apache-2.0
#include "kernels/attention_block.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/convert.hpp"
#include "kernels/attention_scratch.hpp"

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

// Lane i's query, a row of the task.
std::ptrdiff_t row_of(const PairBlock& block, std::ptrdiff_t lane) noexcept {
  return block.first_query + std::min(lane, block.queries - 1);
}

// Clears the bits of pairs that `visible` does not set in `seen`: it is called with a row of the task and that row's
// bit, so that a row of a mask is read in order.
template <class Word, class F>
void keep_visible(const PairBlock& block, const PairBits& bits, const F& visible) noexcept {
  Word seen[std::max(kBlockKeys, kPairBlockKeys)];
  for (std::ptrdiff_t lane = 0; lane < block.lanes; lane += bits.vector_lanes) {
    std::fill_n(seen, block.keys, Word{0});
    for (std::ptrdiff_t i = 0; i < bits.vector_lanes; ++i) {
      visible(row_of(block, lane + i), static_cast<Word>(1u << i), seen);
    }
    std::uint8_t* to = bits.data + lane / bits.vector_lanes * bits.plane_bytes;
    for (std::ptrdiff_t j = 0; j < block.keys; ++j) {
      Word word;
      std::memcpy(&word, to + j * static_cast<std::ptrdiff_t>(sizeof(Word)), sizeof(Word));
      word = static_cast<Word>(word & seen[j]);
      std::memcpy(to + j * static_cast<std::ptrdiff_t>(sizeof(Word)), &word, sizeof(Word));
    }
  }
}

template <class Word>
void hide_by_pairs(const PairMask& mask, const PairBlock& block, const PairBits& bits) noexcept {
  const auto* pairs = static_cast<const std::uint8_t*>(mask.pairs.data);
  const std::ptrdiff_t step = mask.pairs.column_stride, keys = block.keys;
  keep_visible<Word>(block, bits, [&](std::ptrdiff_t row, Word bit, Word* seen) {
    const std::uint8_t* x = pairs + mask.pairs.at_row(row) + block.first_key * step;
    const Word of_zero = mask.keep ? Word{0} : bit, of_other = mask.keep ? bit : Word{0};
    if (step == 1) {
      for (std::ptrdiff_t j = 0; j < keys; ++j) seen[j] |= x[j] != 0 ? of_other : of_zero;
    } else {
      for (std::ptrdiff_t j = 0; j < keys; ++j) seen[j] |= x[j * step] != 0 ? of_other : of_zero;
    }
  });
}

template <class Word>
void hide_by_documents(const AttentionTask& task, const DocumentIds& ids, const PairBlock& block,
                       const PairBits& bits) noexcept {
  with_type(ids.dtype, ids.data, [&](const auto* id) {
    keep_visible<Word>(block, bits, [&](std::ptrdiff_t row, Word bit, Word* seen) {
      // A row that sees nothing may stand outside the ids.
      if (task.begin[row] >= task.end[row]) return;
      const auto own = number<std::int64_t>(id[task.position[row] * ids.stride]);
      for (std::ptrdiff_t j = 0; j < block.keys; ++j) {
        if (number<std::int64_t>(id[(block.first_key + j) * ids.stride]) == own) seen[j] |= bit;
      }
    });
  });
}

template <class Word>
void hide_by_bias_words(const AttentionTask& task, const PairBlock& block, const PairBits& bits) noexcept {
  with_type(task.bias.dtype, task.bias.data, [&](const auto* bias) {
    keep_visible<Word>(block, bits, [&](std::ptrdiff_t row, Word bit, Word* seen) {
      const auto* x = bias + task.bias.at_row(row) + block.first_key * task.bias.column_stride;
      for (std::ptrdiff_t j = 0; j < block.keys; ++j) {
        const auto b = number<double>(x[j * task.bias.column_stride]);
        if (b != -std::numeric_limits<double>::infinity()) seen[j] |= bit;
      }
    });
  });
}

template <class Word>
void hide_by_mask_words(const AttentionTask& task, const PairBlock& block, const PairBits& bits) noexcept {
  for (const PairMask& mask : task.pair_masks) hide_by_pairs<Word>(mask, block, bits);
  for (const DocumentIds& ids : task.documents) hide_by_documents<Word>(task, ids, block, bits);
}

}  // namespace

bool hides_pairs(const AttentionTask& task) noexcept { return !task.pair_masks.empty() || !task.documents.empty(); }

void hide_by_masks(const AttentionTask& task, const PairBlock& block, const PairBits& bits) noexcept {
  if (bits.vector_lanes > 8) {
    hide_by_mask_words<std::uint16_t>(task, block, bits);
  } else {
    hide_by_mask_words<std::uint8_t>(task, block, bits);
  }
}

void hide_by_bias(const AttentionTask& task, const PairBlock& block, const PairBits& bits) noexcept {
  if (bits.vector_lanes > 8) {
    hide_by_bias_words<std::uint16_t>(task, block, bits);
  } else {
    hide_by_bias_words<std::uint8_t>(task, block, bits);
  }
}

template <class T>
void store_pairs(const T* src, const PairBlock& block, const MutableMatrix& out, std::ptrdiff_t first_column) noexcept {
  for (std::ptrdiff_t i = 0; i < block.queries; ++i) {
    const std::ptrdiff_t row = out.at_row(block.first_query + i);
    for (std::ptrdiff_t j = 0; j < block.keys; ++j) {
      base::store_as(out.dtype, out.data, row + (first_column + j) * out.column_stride, src[j * block.lanes + i]);
    }
  }
}

void fill_pairs(const PairBlock& block, const MutableMatrix& out, std::ptrdiff_t begin, std::ptrdiff_t end,
                double value) noexcept {
  for (std::ptrdiff_t i = 0; i < block.queries; ++i) {
    const std::ptrdiff_t row = out.at_row(block.first_query + i);
    for (std::ptrdiff_t j = begin; j < end; ++j)
      base::store_as(out.dtype, out.data, row + j * out.column_stride, value);
  }
}

template <class T>
void drop_block(const AttentionTask& task, const PairBlock& block, T* weights) noexcept {
  const DropoutRule& rule = *task.dropout.rule;
  const T factor = static_cast<T>(rule.survivor_factor());
  const std::ptrdiff_t last_key = block.first_key + block.keys;
  for (std::ptrdiff_t i = 0; i < block.queries; ++i) {
    const std::ptrdiff_t row = block.first_query + i, head = task.head_of(row);
    const std::ptrdiff_t query = task.dropout.first_query + row - head * task.head_queries;
    // The words of one call serve four keys.
    for (std::ptrdiff_t quad = block.first_key / 4; quad * 4 < last_key; ++quad) {
      const PhiloxCounter words = rule.words(task.dropout.batch, task.dropout.head + head, query, quad);
      const std::ptrdiff_t first = std::max(quad * 4, block.first_key), last = std::min(quad * 4 + 4, last_key);
      for (std::ptrdiff_t j = first; j < last; ++j) {
        T& weight = weights[(j - block.first_key) * block.lanes + i];
        weight = words[static_cast<std::size_t>(j % 4)] >= rule.threshold() ? weight * factor : T{0};
      }
    }
  }
}

#define ATTN_INSTANTIATE(T)                                                                             \
  template void store_pairs(const T*, const PairBlock&, const MutableMatrix&, std::ptrdiff_t) noexcept; \
  template void drop_block(const AttentionTask&, const PairBlock&, T*) noexcept;
ATTN_INSTANTIATE(float)
ATTN_INSTANTIATE(double)
#undef ATTN_INSTANTIATE

}  // namespace attn::kernels
