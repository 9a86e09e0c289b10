// SPDX-License-Identifier: Apache-2.0
#include "runtime/scratch.hpp"

#include <algorithm>

#include "base/concat.hpp"

namespace attn::runtime {

ScratchError::ScratchError(std::size_t bytes) : message_(base::concat("scratch: no memory for ", bytes, " bytes")) {}

ScratchPool::ScratchPool(std::pmr::memory_resource* memory, std::size_t kept_blocks)
    : memory_(memory), kept_blocks_(kept_blocks) {
  free_.reserve(kept_blocks);  // so that release() cannot throw
}

ScratchPool::~ScratchPool() {
  for (const Block& block : free_) memory_->deallocate(block.data, block.bytes, Scratch::kAlignment);
}

ScratchPool::Block ScratchPool::acquire(std::size_t bytes) {
  {
    const std::lock_guard lock(mutex_);
    // The smallest that fits: a large one stays for whoever needs it.
    auto found = free_.end();
    for (auto block = free_.begin(); block != free_.end(); ++block) {
      if (block->bytes >= bytes && (found == free_.end() || block->bytes < found->bytes)) found = block;
    }
    if (found != free_.end()) {
      const Block block = *found;
      free_.erase(found);
      return block;
    }
  }
  try {
    return {static_cast<std::byte*>(memory_->allocate(bytes, Scratch::kAlignment)), bytes};
  } catch (const std::bad_alloc&) {
    throw ScratchError(bytes);
  }
}

void ScratchPool::release(Block block) noexcept {
  {
    const std::lock_guard lock(mutex_);
    if (free_.size() < kept_blocks_) {
      free_.push_back(block);
      return;
    }
    // Keep the larger ones: a small block that stays would make every large call allocate.
    const auto smallest =
        std::min_element(free_.begin(), free_.end(), [](const Block& a, const Block& b) { return a.bytes < b.bytes; });
    if (smallest != free_.end() && smallest->bytes < block.bytes) std::swap(*smallest, block);
  }
  memory_->deallocate(block.data, block.bytes, Scratch::kAlignment);
}

}  // namespace attn::runtime
