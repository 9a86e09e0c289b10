// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace attn::io {

// What a message about an absent name can add: `; did you mean "encoder.weight"?` with up to three names that are a
// few letters away or differ by a prefix ("bert."), nearest first; empty when none is close.
std::string near_names(std::string_view wanted, std::span<const std::string> names);

}  // namespace attn::io
