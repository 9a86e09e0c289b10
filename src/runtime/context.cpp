// SPDX-License-Identifier: Apache-2.0
#include <sched.h>

#include <algorithm>
#include <attn/context.hpp>
#include <attn/error.hpp>
#include <thread>

#include "base/concat.hpp"
#include "runtime/context_access.hpp"

namespace attn {
namespace {

constexpr int kMaxThreads = 4096;

// Blocks of scratch memory that a call holds for all its threads, while each of these has one of its own: widened
// parameters of a projection and a norm, its sums, and the activations of a layer or a model.
constexpr int kCallBlocks = 8;

// The processors this process may run on, which a container can make fewer than the machine has.
int available_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

int checked_threads(int threads) {
  if (threads < 0 || threads > kMaxThreads) {
    throw Error("Context", "threads", base::concat(threads, ", expected 0 (one for each processor) to ", kMaxThreads));
  }
  return threads == 0 ? available_processors() : threads;
}

}  // namespace

struct Context::Impl {
  explicit Impl(const ContextOptions& options)
      : memory(options.memory != nullptr ? options.memory : std::pmr::get_default_resource()),
        isa(runtime::choose_isa(options.isa)),
        executor(checked_threads(options.threads)),
        scratch(memory, static_cast<std::size_t>(executor.threads() + kCallBlocks)) {}

  std::pmr::memory_resource* memory;
  runtime::Isa isa;
  runtime::Executor executor;
  runtime::ScratchPool scratch;
  AttentionObserver* observer = nullptr;
};

Context::Context(const ContextOptions& options) : impl_(std::make_unique<Impl>(options)) {}
Context::~Context() = default;

int Context::threads() const noexcept { return impl_->executor.threads(); }
std::pmr::memory_resource* Context::memory() const noexcept { return impl_->memory; }
const std::string& Context::isa() const noexcept { return impl_->isa.name; }
void Context::set_observer(AttentionObserver* observer) noexcept { impl_->observer = observer; }
AttentionObserver* Context::observer() const noexcept { return impl_->observer; }

Context& default_context() {
  static Context context;
  return context;
}

namespace runtime {

Executor& ContextAccess::executor(Context& context) noexcept { return context.impl_->executor; }
ScratchPool& ContextAccess::scratch(Context& context) noexcept { return context.impl_->scratch; }
const Isa& ContextAccess::isa(const Context& context) noexcept { return context.impl_->isa; }

}  // namespace runtime
}  // namespace attn
