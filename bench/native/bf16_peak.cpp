// SPDX-License-Identifier: Apache-2.0
// The rate of the bf16 dot product in registers, which Highway 1.0.3 does not offer.
#include <chrono>

#include "native/guard.hpp"

#if defined(__x86_64__)
#include <immintrin.h>

namespace {

// One accumulator of 16 f32 lanes takes 32 products: 64 flops.
__attribute__((target("avx512f,avx512bf16"))) float dot_work(long rounds) {
  constexpr int kVectors = 12;
  __m512 a[kVectors];
  for (int i = 0; i < kVectors; ++i) a[i] = _mm512_set1_ps(static_cast<float>(i));
  const auto one = (__m512bh)_mm512_set1_epi16(0x3f80), small = (__m512bh)_mm512_set1_epi16(0x3c00);
  for (long r = 0; r < rounds; ++r) {
    for (auto& x : a) x = _mm512_dpbf16_ps(x, one, small);
  }
  for (int i = 1; i < kVectors; ++i) a[0] = _mm512_add_ps(a[0], a[i]);
  return _mm512_cvtss_f32(a[0]);
}

}  // namespace

// flop/s of one thread; 0 on a processor without that instruction.
BENCH_API double bench_bf16_peak() {
  if (!__builtin_cpu_supports("avx512bf16")) return 0;
  constexpr long kRounds = 200'000;
  double best = 0;
  volatile float kept = 0;
  for (int run = 0; run < 20; ++run) {
    const auto start = std::chrono::steady_clock::now();
    kept = dot_work(kRounds);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    const double rate = 64.0 * 12 * kRounds / seconds.count();
    if (rate > best) best = rate;
  }
  static_cast<void>(kept);
  return best;
}
#else
BENCH_API double bench_bf16_peak() { return 0; }
#endif
