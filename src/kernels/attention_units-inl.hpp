// SPDX-License-Identifier: Apache-2.0
// Included once for each instruction set, by the kernels that multiply bf16 in pairs.
#if defined(ATTN_KERNELS_ATTENTION_UNITS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTN_KERNELS_ATTENTION_UNITS_INL_HPP
#undef ATTN_KERNELS_ATTENTION_UNITS_INL_HPP
#else
#define ATTN_KERNELS_ATTENTION_UNITS_INL_HPP
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

#include "kernels/unroll.hpp"

#if HWY_TARGET <= HWY_AVX3
HWY_PUSH_ATTRIBUTES(HWY_TARGET_STR ",avx512bf16")
namespace attn::kernels::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// Two rows of one vector each, rounded to bf16 and put in pairs: lane i of the result holds a[i] below b[i].
HWY_INLINE __m512i pair_bf16(__m512 a, __m512 b) {
  const __m512i order = _mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8, 23, 7, 22, 6, 21,
                                         5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
  return _mm512_permutexvar_epi16(order, reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(b, a)));
}

// sum[i] + a[i] + b[i] of each pair.
HWY_INLINE __m512 add_pairs(__m512 sum, __m512i pairs) {
  const __m512i ones = _mm512_set1_epi32(0x3f803f80);
  return _mm512_dpbf16_ps(sum, reinterpret_cast<__m512bh>(pairs), reinterpret_cast<__m512bh>(ones));
}

// Rows of pairs, `stride` apart, as both products read them.
struct PairRows {
  const std::uint32_t* data = nullptr;
  std::ptrdiff_t stride = 0;
};

// Scores and outputs by the dot product of pairs (AVX512-BF16): lanes are queries, as everywhere.
struct DotUnit {
  // So many flops in registers, `rounds` times: the unit's peak, to be timed.
  static constexpr double kRoundFlops = 12 * 16 * 4;
  static void run_registers(std::ptrdiff_t rounds) {
    const auto ones = reinterpret_cast<__m512bh>(_mm512_set1_epi32(0x3f803f80));
    __m512 sum[12];
    for (__m512& x : sum) x = _mm512_setzero_ps();
    for (std::ptrdiff_t i = 0; i < rounds; ++i) {
      ATTN_UNROLL for (__m512& x : sum) x = _mm512_dpbf16_ps(x, ones, ones);
    }
    for (__m512& x : sum) asm volatile("" ::"v"(x));  // so that no compiler can drop the work
  }

  // s[key][lane] = sum over `pairs` of k[key] . q[pair][lane], for 32 keys and kWide vectors of lanes; rows of s are
  // `stride` apart. In two steps, between which a unit that has registers of its own for it works by itself.
  template <int kWide>
  static void begin_scores(const PairRows&, const std::uint32_t*, std::ptrdiff_t, std::ptrdiff_t) {}
  template <int kWide>
  static void end_scores(const PairRows& k, const std::uint32_t* q, std::ptrdiff_t lanes, std::ptrdiff_t pairs,
                         std::ptrdiff_t stride, float* s) {
    constexpr int kRows = 16 / kWide / 4 * 4;
    for (int j = 0; j < 32; j += kRows) {
      const PairRows rows{.data = k.data + j * k.stride, .stride = k.stride};
      products<kRows, kWide>(rows, q, lanes, pairs, nullptr, stride, s + j * stride);
    }
  }

  // o[dim][lane] += sum over `pairs` of v[dim] . p[pair][lane], for `dims` dims.
  template <int kWide>
  static void values(const PairRows& v, const std::uint32_t* p, std::ptrdiff_t lanes, std::ptrdiff_t pairs,
                     std::ptrdiff_t dims, float* o) {
    constexpr int kRows = 16 / kWide / 4 * 4;
    for (std::ptrdiff_t d = 0; d < dims; d += kRows) {
      float* at = o + d * lanes;
      products<kRows, kWide>({.data = v.data + d * v.stride, .stride = v.stride}, p, lanes, pairs, at, lanes, at);
    }
  }

 private:
  template <int kRows, int kWide>
  HWY_INLINE static void products(const PairRows& rows, const std::uint32_t* columns, std::ptrdiff_t lanes,
                                  std::ptrdiff_t pairs, const float* before, std::ptrdiff_t stride, float* to) {
    __m512 sum[kRows][kWide];
    ATTN_UNROLL for (int r = 0; r < kRows; ++r) {
      ATTN_UNROLL for (int w = 0; w < kWide; ++w) {
        sum[r][w] = before == nullptr ? _mm512_setzero_ps() : _mm512_load_ps(before + r * stride + w * 16);
      }
    }
    for (std::ptrdiff_t i = 0; i < pairs; ++i, columns += lanes) {
      __m512bh column[kWide];
      ATTN_UNROLL for (int w = 0; w < kWide; ++w) {
        column[w] = reinterpret_cast<__m512bh>(_mm512_load_si512(columns + w * 16));
      }
      ATTN_UNROLL for (int r = 0; r < kRows; ++r) {
        const auto x = reinterpret_cast<__m512bh>(_mm512_set1_epi32(static_cast<int>(rows.data[r * rows.stride + i])));
        ATTN_UNROLL for (int w = 0; w < kWide; ++w) sum[r][w] = _mm512_dpbf16_ps(sum[r][w], x, column[w]);
      }
    }
    ATTN_UNROLL for (int r = 0; r < kRows; ++r) {
      ATTN_UNROLL for (int w = 0; w < kWide; ++w) _mm512_store_ps(to + r * stride + w * 16, sum[r][w]);
    }
  }
};

// The same by tiles (AMX-BF16): a register is 16 rows of 16 pairs or f32. Registers 0 to 3 sum two by two, 4 and 5 hold
// rows, 6 and 7 columns. In assembler, since g++ 12 and clang 14 differ in what their intrinsics ask for.
#define ATTN_TILE_LOAD(tile, at, stride) \
  asm volatile("tileloadd (%0,%1,1), %%tmm" #tile ::"r"(at), "r"((stride)*std::ptrdiff_t{4}) : "memory")
#define ATTN_TILE_STORE(tile, at, stride) \
  asm volatile("tilestored %%tmm" #tile ", (%0,%1,1)" ::"r"(at), "r"((stride)*std::ptrdiff_t{4}) : "memory")
#define ATTN_TILE_ZERO(tile) asm volatile("tilezero %%tmm" #tile ::)
#define ATTN_TILE_PRODUCT(to, rows, columns) asm volatile("tdpbf16ps %%tmm" #columns ", %%tmm" #rows ", %%tmm" #to ::)

struct TileUnit {
  // Takes the thread's tile registers, and gives them back.
  TileUnit() {
    struct {
      std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
      std::uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
      std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
    } shape;
    asm volatile("ldtilecfg %0" ::"m"(shape));
  }
  ~TileUnit() { asm volatile("tilerelease" ::); }
  static constexpr double kRoundFlops = 4 * 2.0 * 16 * 16 * 32;
  static void run_registers(std::ptrdiff_t rounds) {
    const TileUnit unit;
    for (std::ptrdiff_t i = 0; i < rounds; ++i) {
      ATTN_TILE_PRODUCT(0, 4, 6);
      ATTN_TILE_PRODUCT(1, 4, 7);
      ATTN_TILE_PRODUCT(2, 5, 6);
      ATTN_TILE_PRODUCT(3, 5, 7);
    }
  }

  TileUnit(const TileUnit&) = delete;
  TileUnit& operator=(const TileUnit&) = delete;

  template <int kWide>
  static HWY_INLINE void begin_scores(const PairRows& k, const std::uint32_t* q, std::ptrdiff_t lanes,
                                      std::ptrdiff_t pairs) {
    clear<kWide>();
    multiply<kWide>(k, q, lanes, pairs);
  }
  template <int kWide>
  static HWY_INLINE void end_scores(const PairRows&, const std::uint32_t*, std::ptrdiff_t, std::ptrdiff_t,
                                    std::ptrdiff_t stride, float* s) {
    store<kWide>(stride, s);
  }

  template <int kWide>
  static void values(const PairRows& v, const std::uint32_t* p, std::ptrdiff_t lanes, std::ptrdiff_t pairs,
                     std::ptrdiff_t dims, float* o) {
    std::ptrdiff_t d = 0;
    for (; d + 32 <= dims; d += 32) {
      const PairRows rows{.data = v.data + d * v.stride, .stride = v.stride};
      for (int w = 0; w + 1 < kWide; w += 2) add<2>(rows, p + w * 16, lanes, pairs, o + d * lanes + w * 16);
      if constexpr (kWide % 2 != 0) {
        constexpr int kLast = (kWide - 1) * 16;
        add<1>(rows, p + kLast, lanes, pairs, o + d * lanes + kLast);
      }
    }
    if (d == dims) return;
    const PairRows rows{.data = v.data + d * v.stride, .stride = v.stride};
    for (int w = 0; w < kWide; ++w) one_by_one(rows, p + w * 16, lanes, pairs, o + d * lanes + w * 16);
  }

 private:
  // The sums of 32 rows by kWide (1 or 2) times 16 lanes: registers 0 and 2 hold the first 16 lanes.
  template <int kWide>
  static HWY_INLINE void clear() {
    ATTN_TILE_ZERO(0);
    ATTN_TILE_ZERO(2);
    if constexpr (kWide == 1) return;
    ATTN_TILE_ZERO(1);
    ATTN_TILE_ZERO(3);
  }

  template <int kWide>
  static HWY_INLINE void load(std::ptrdiff_t stride, const float* from) {
    ATTN_TILE_LOAD(0, from, stride);
    ATTN_TILE_LOAD(2, from + 16 * stride, stride);
    if constexpr (kWide == 1) return;
    ATTN_TILE_LOAD(1, from + 16, stride);
    ATTN_TILE_LOAD(3, from + 16 * stride + 16, stride);
  }

  template <int kWide>
  static HWY_INLINE void store(std::ptrdiff_t stride, float* to) {
    ATTN_TILE_STORE(0, to, stride);
    ATTN_TILE_STORE(2, to + 16 * stride, stride);
    if constexpr (kWide == 1) return;
    ATTN_TILE_STORE(1, to + 16, stride);
    ATTN_TILE_STORE(3, to + 16 * stride + 16, stride);
  }

  template <int kWide>
  static HWY_INLINE void multiply(const PairRows& rows, const std::uint32_t* columns, std::ptrdiff_t lanes,
                                  std::ptrdiff_t pairs) {
    const std::uint32_t *low = rows.data, *high = rows.data + 16 * rows.stride;
    for (std::ptrdiff_t i = 0; i < pairs; i += 16, columns += 16 * lanes) {
      ATTN_TILE_LOAD(4, low + i, rows.stride);
      ATTN_TILE_LOAD(6, columns, lanes);
      ATTN_TILE_PRODUCT(0, 4, 6);
      ATTN_TILE_LOAD(5, high + i, rows.stride);
      ATTN_TILE_PRODUCT(2, 5, 6);
      if constexpr (kWide == 1) continue;
      ATTN_TILE_LOAD(7, columns + 16, lanes);
      ATTN_TILE_PRODUCT(1, 4, 7);
      ATTN_TILE_PRODUCT(3, 5, 7);
    }
  }

  template <int kWide>
  static HWY_INLINE void add(const PairRows& rows, const std::uint32_t* columns, std::ptrdiff_t lanes,
                             std::ptrdiff_t pairs, float* to) {
    load<kWide>(lanes, to);
    multiply<kWide>(rows, columns, lanes, pairs);
    store<kWide>(lanes, to);
  }

  // 16 rows by 16 lanes, added to what is there.
  static HWY_INLINE void one_by_one(const PairRows& rows, const std::uint32_t* columns, std::ptrdiff_t lanes,
                                    std::ptrdiff_t pairs, float* to) {
    ATTN_TILE_LOAD(0, to, lanes);
    for (std::ptrdiff_t i = 0; i < pairs; i += 16, columns += 16 * lanes) {
      ATTN_TILE_LOAD(4, rows.data + i, rows.stride);
      ATTN_TILE_LOAD(6, columns, lanes);
      ATTN_TILE_PRODUCT(0, 4, 6);
    }
    ATTN_TILE_STORE(0, to, lanes);
  }
};

#undef ATTN_TILE_LOAD
#undef ATTN_TILE_STORE
#undef ATTN_TILE_ZERO
#undef ATTN_TILE_PRODUCT

}  // namespace
}  // namespace attn::kernels::HWY_NAMESPACE
HWY_POP_ATTRIBUTES
#endif  // HWY_TARGET <= HWY_AVX3

#endif
