// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/version.hpp>
#include <cstdint>

namespace attn {
inline namespace ATTN_ABI {

// The point at which scores are returned.
enum class ScoreStage : std::uint8_t {
  scaled,  // scale * q.k
  capped,  // after the soft-cap
  masked,  // after bias, ALiBi and mask: hidden pairs are -inf
};

}  // namespace ATTN_ABI
}  // namespace attn
