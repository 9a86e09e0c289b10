// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/draw/figure.hpp>
#include <filesystem>
#include <string>

namespace attn::train {

// A picture of how the loss of a run fell, from its metrics.jsonl: of the training steps, as means over at most 200
// equal stretches, and of the validation part. Throws Error for a file without a step.
ATTN_API std::string loss_curve(const std::filesystem::path& metrics, draw::FigureFormat format,
                                const std::string& title = {});

}  // namespace attn::train
