// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <memory_resource>

namespace attn::test {

// Counts the bytes that are taken.
class CountingResource : public std::pmr::memory_resource {
 public:
  std::size_t used() const { return used_; }
  std::size_t peak() const { return peak_; }

 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    const std::size_t now = used_ += bytes;
    for (std::size_t seen = peak_; now > seen && !peak_.compare_exchange_weak(seen, now);) continue;
    return std::pmr::new_delete_resource()->allocate(bytes, alignment);
  }
  void do_deallocate(void* data, std::size_t bytes, std::size_t alignment) override {
    used_ -= bytes;
    std::pmr::new_delete_resource()->deallocate(data, bytes, alignment);
  }
  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }

  std::atomic<std::size_t> used_{0}, peak_{0};
};

}  // namespace attn::test
