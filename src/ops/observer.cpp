// SPDX-License-Identifier: Apache-2.0
#include <attn/observer.hpp>

namespace attn {

AttentionObserver::~AttentionObserver() = default;

}  // namespace attn
