// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/attention_backward.hpp>

namespace attn::ops {

// Checks of what the backward call takes and gives beside q, k, v and the options. Each throws Error naming `function`.
void check_backward(const char* function, const AttentionOutputGrads& output_grads, const AttentionSaved& saved,
                    const AttentionGrads& grads, const AttentionOptions& options);

}  // namespace attn::ops
