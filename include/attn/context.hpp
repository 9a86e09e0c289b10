// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/export.hpp>
#include <attn/version.hpp>
#include <memory>
#include <memory_resource>
#include <string>
#include <vector>

namespace attn {

class AttentionObserver;
namespace runtime {
struct ContextAccess;
}  // namespace runtime

inline namespace ATTN_ABI {
struct ContextOptions {
  int threads = 0;  // threads of a call, its caller included; 0: one per available processor
  // Where scratch and results come from; null: the default resource. Threads of a call use it at the same time, so that
  // a resource that is not made for that (a monotonic or unsynchronized one) needs a lock around it.
  std::pmr::memory_resource* memory = nullptr;
  std::string isa = {};  // instruction set, one of available_isas(); empty: ATTN_ISA if set, else the best there is
};
}  // namespace ATTN_ABI

// What a call needs beside its operands: threads, scratch memory, instruction set, and who looks on. It is given by
// reference as the last parameter, and must outlive the call. One context serves one call at a time from each thread;
// several threads may share it.
class ATTN_API Context {
 public:
  // Throws Error for a negative thread count, and for an instruction set that is unknown or that the machine lacks.
  explicit Context(const ContextOptions& options = {});
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  int threads() const noexcept;
  std::pmr::memory_resource* memory() const noexcept;
  const std::string& isa() const noexcept;

  // Called after every attention call that runs under this context; null: nobody looks. Observing changes no bit of
  // a result. Not to be set while another thread calls under this context. See <attn/observer.hpp>.
  void set_observer(AttentionObserver* observer) noexcept;
  AttentionObserver* observer() const noexcept;

 private:
  friend struct runtime::ContextAccess;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// The context of calls that name none, made at first use with default options.
ATTN_API Context& default_context();

// Instruction sets that are compiled in and that this machine has, best first: "avx512", "avx2", "baseline", ... Those
// with products of bf16 have names of their own: "amx" and "avx512_bf16" are "avx512" for everything else.
ATTN_API std::vector<std::string> available_isas();

}  // namespace attn
