// SPDX-License-Identifier: Apache-2.0
#include "runtime/cpu_bf16.hpp"

#if defined(__x86_64__) && defined(__linux__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>
#endif

namespace attn::runtime {

#if defined(__x86_64__) && defined(__linux__)
namespace {

// Tile registers make a thread's saved state 8 KiB larger, so that Linux wants to be asked, once for a process
// (Documentation/arch/x86/xstate.rst).
bool ask_for_tiles() noexcept {
  constexpr int kRequestPermission = 0x1023, kTileData = 18;
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

// AMD's processors multiply more numbers a cycle by dot products of bf16 than by multiply-adds of f32, Intel's fewer:
// those have tiles instead.
bool is_amd() noexcept {
  unsigned a = 0, vendor[3] = {};
  if (__get_cpuid(0, &a, &vendor[0], &vendor[2], &vendor[1]) == 0) return false;
  return std::memcmp(vendor, "AuthenticAMD", sizeof vendor) == 0;
}

}  // namespace

CpuBf16 detect_cpu_bf16() noexcept {
  constexpr unsigned kBf16 = 1u << 5, kAmxBf16 = 1u << 22, kAmxTile = 1u << 24;  // of leaf 7: 1.eax, 0.edx, 0.edx
  unsigned a = 0, b = 0, c = 0, d = 0;
  CpuBf16 has;
  if (__get_cpuid_count(7, 1, &a, &b, &c, &d) != 0) has.dot = (a & kBf16) != 0;
  has.fast_dot = has.dot && is_amd();
  if (has.dot && __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0) {
    has.tiles = (d & kAmxBf16) != 0 && (d & kAmxTile) != 0 && ask_for_tiles();
  }
  return has;
}
#else
CpuBf16 detect_cpu_bf16() noexcept { return {}; }
#endif

}  // namespace attn::runtime
