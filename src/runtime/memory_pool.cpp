// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <attn/memory_pool.hpp>
#include <bit>
#include <map>
#include <mutex>
#include <vector>

namespace attn {
namespace {

constexpr std::size_t kAlignment = 64;

// Four sizes for each power of two, so that at most a fifth of a block is unused and sizes that differ little, as those
// of batches do, share their blocks.
std::size_t block_size(std::size_t bytes) {
  const std::size_t least = std::max(bytes, 4 * kAlignment);
  const std::size_t step = std::bit_floor(least - 1) / 4;
  return (least + step - 1) / step * step;
}

}  // namespace

struct MemoryPool::Impl {
  explicit Impl(std::pmr::memory_resource* from)
      : upstream(from != nullptr ? from : std::pmr::get_default_resource()) {}

  void release() {
    for (auto& [size, blocks] : free) {
      for (void* block : blocks) upstream->deallocate(block, size, kAlignment);
      bytes -= size * blocks.size();
    }
    free.clear();
  }

  std::pmr::memory_resource* upstream;
  mutable std::mutex mutex;
  std::map<std::size_t, std::vector<void*>> free;
  std::size_t bytes = 0, allocations = 0;
};

MemoryPool::MemoryPool(std::pmr::memory_resource* upstream) : impl_(std::make_unique<Impl>(upstream)) {}
MemoryPool::~MemoryPool() { impl_->release(); }

void MemoryPool::release() {
  const std::lock_guard lock(impl_->mutex);
  impl_->release();
}
std::size_t MemoryPool::bytes() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->bytes;
}
std::size_t MemoryPool::upstream_allocations() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->allocations;
}

void* MemoryPool::do_allocate(std::size_t bytes, std::size_t alignment) {
  // No tensor wants more alignment; what does is not pooled.
  if (alignment > kAlignment) return impl_->upstream->allocate(bytes, alignment);
  const std::size_t size = block_size(bytes);
  const std::lock_guard lock(impl_->mutex);
  std::vector<void*>& blocks = impl_->free[size];
  if (!blocks.empty()) {
    void* block = blocks.back();
    blocks.pop_back();
    return block;
  }
  void* block = impl_->upstream->allocate(size, kAlignment);
  impl_->bytes += size;
  ++impl_->allocations;
  return block;
}

void MemoryPool::do_deallocate(void* p, std::size_t bytes, std::size_t alignment) {
  if (alignment > kAlignment) {
    impl_->upstream->deallocate(p, bytes, alignment);
    return;
  }
  const std::lock_guard lock(impl_->mutex);
  impl_->free[block_size(bytes)].push_back(p);
}

bool MemoryPool::do_is_equal(const std::pmr::memory_resource& other) const noexcept { return this == &other; }

}  // namespace attn
