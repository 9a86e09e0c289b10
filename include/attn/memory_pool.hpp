// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/export.hpp>
#include <cstddef>
#include <memory>
#include <memory_resource>

namespace attn {

// Memory that is kept when it is given back, for work that asks for the same sizes again and again: each step of a
// training needs what the last one needed, and pages that the system has already given are faster than new ones. From
// the second step on nothing more is taken from `upstream`.
//
//   attn::MemoryPool pool;
//   attn::Context context({.memory = &pool});
//
// It must outlive every tensor and context that uses it. Any number of threads may.
class ATTN_API MemoryPool : public std::pmr::memory_resource {
 public:
  // Null: the default resource.
  explicit MemoryPool(std::pmr::memory_resource* upstream = nullptr);
  ~MemoryPool() override;
  MemoryPool(const MemoryPool&) = delete;
  MemoryPool& operator=(const MemoryPool&) = delete;

  // Gives all memory that nobody uses now back to `upstream`.
  void release();
  // Bytes taken from `upstream` and not given back, whether used now or kept; and how often something was taken.
  std::size_t bytes() const;
  std::size_t upstream_allocations() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;

  void* do_allocate(std::size_t bytes, std::size_t alignment) override;
  void do_deallocate(void* p, std::size_t bytes, std::size_t alignment) override;
  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override;
};

}  // namespace attn
