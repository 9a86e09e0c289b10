// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace attn::train {

// The text of hub/attn_hub.py, which the build puts into a source file.
extern const std::string_view kHubCode;

}  // namespace attn::train
