// SPDX-License-Identifier: Apache-2.0
#include "runtime/isa.hpp"

#include <hwy/highway.h>
#include <hwy/targets.h>

#include <algorithm>
#include <attn/context.hpp>
#include <attn/error.hpp>
#include <cstdlib>

#include "base/concat.hpp"
#include "runtime/cpu_bf16.hpp"

namespace attn {
namespace runtime {
namespace {

std::string isa_name(std::int64_t target) {
#if HWY_ARCH_X86
  if (target == HWY_AVX3) return "avx512";
  if (target == HWY_AVX2) return "avx2";
#elif HWY_ARCH_ARM
  if (target == HWY_NEON) return "neon";
#endif
  return target == HWY_STATIC_TARGET ? "baseline" : hwy::TargetName(target);
}

std::vector<Isa> isas_in(std::int64_t targets) {
  std::vector<Isa> isas;
  for (int bit = 0; bit < 63; ++bit) {  // Highway numbers better targets lower.
    const std::int64_t target = std::int64_t{1} << bit;
    if ((targets & target) != 0) isas.push_back({.name = isa_name(target), .target = target});
  }
  return isas;
}

// AVX-512 with what this processor has for bf16 besides, each before what it is faster than.
std::vector<Isa> with_bf16(std::vector<Isa> isas) {
#if HWY_ARCH_X86
  const auto avx512 = std::find_if(isas.begin(), isas.end(), [](const Isa& isa) { return isa.target == HWY_AVX3; });
  if (avx512 == isas.end()) return isas;
  static const CpuBf16 has = detect_cpu_bf16();
  const Isa dot{.name = "avx512_bf16", .target = HWY_AVX3, .bf16 = base::Bf16Products::dot};
  const Isa tiles{.name = "amx", .target = HWY_AVX3, .bf16 = base::Bf16Products::tiles};
  std::vector<Isa> sets;
  if (has.tiles) sets.push_back(tiles);
  if (has.fast_dot) sets.push_back(dot);
  sets.push_back(*avx512);
  if (has.dot && !has.fast_dot) sets.push_back(dot);
  isas.insert(isas.erase(avx512), sets.begin(), sets.end());
#endif
  return isas;
}

std::string names(const std::vector<Isa>& isas) {
  std::string text;
  for (const Isa& isa : isas) text += (text.empty() ? "" : ", ") + isa.name;
  return text;
}

}  // namespace

std::vector<Isa> compiled_isas() { return isas_in(HWY_TARGETS); }

std::vector<Isa> machine_isas() {
  return with_bf16(isas_in(HWY_TARGETS & (hwy::SupportedTargets() | HWY_STATIC_TARGET)));
}

Isa choose_isa(const std::string& wanted) {
  const std::vector<Isa> have = machine_isas();
  const char* from_environment = std::getenv("ATTN_ISA");
  const std::string name = !wanted.empty() ? wanted : from_environment != nullptr ? from_environment : "";
  if (name.empty()) return have.front();
  for (const Isa& isa : have) {
    if (isa.name == name) return isa;
  }
  throw Error("Context", wanted.empty() ? "ATTN_ISA" : "isa",
              base::concat('"', name, "\" is not an instruction set of this machine, expected one of: ", names(have)));
}

}  // namespace runtime

std::vector<std::string> available_isas() {
  std::vector<std::string> result;
  for (const runtime::Isa& isa : runtime::machine_isas()) result.push_back(isa.name);
  return result;
}

}  // namespace attn
