// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory_resource>
#include <mutex>
#include <new>
#include <string>
#include <vector>

namespace attn::runtime {

// Scratch memory that cannot be had. Says how much was wanted.
class ScratchError : public std::bad_alloc {
 public:
  explicit ScratchError(std::size_t bytes);
  const char* what() const noexcept override { return message_.c_str(); }

 private:
  std::string message_;
};

// Blocks of scratch memory, kept for the next call: after the first of its kind, a call allocates nothing.
class ScratchPool {
 public:
  // Keeps at most `kept_blocks` free blocks from `memory`.
  ScratchPool(std::pmr::memory_resource* memory, std::size_t kept_blocks);
  ~ScratchPool();
  ScratchPool(const ScratchPool&) = delete;
  ScratchPool& operator=(const ScratchPool&) = delete;

 private:
  friend class Scratch;
  struct Block {
    std::byte* data = nullptr;
    std::size_t bytes = 0;
  };
  Block acquire(std::size_t bytes);
  void release(Block block) noexcept;

  std::pmr::memory_resource* memory_;
  std::size_t kept_blocks_;
  std::mutex mutex_;
  std::vector<Block> free_;
};

// One block for as long as this lives, handed out in pieces aligned to 64 bytes. One thread uses it.
class Scratch {
 public:
  // Throws ScratchError when there is no memory.
  Scratch(ScratchPool& pool, std::size_t bytes) : pool_(pool), block_(pool.acquire(bytes)) {}
  ~Scratch() { pool_.release(block_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  // The next `count` elements. The block must have been asked for large enough, by the sum of padded().
  template <class T>
  T* take(std::size_t count) noexcept {
    std::byte* at = block_.data + used_;
    used_ += padded<T>(count);
    return reinterpret_cast<T*>(at);
  }
  // What take<T>(count) uses up.
  template <class T>
  static constexpr std::size_t padded(std::size_t count) noexcept {
    return (count * sizeof(T) + kAlignment - 1) / kAlignment * kAlignment;
  }
  static constexpr std::size_t kAlignment = 64;

 private:
  ScratchPool& pool_;
  ScratchPool::Block block_;
  std::size_t used_ = 0;
};

}  // namespace attn::runtime
