// SPDX-License-Identifier: Apache-2.0
// Training: recipes, data, batches, scores, checkpoints, and the loop that puts them together.
#pragma once

#include <attn/train/batches.hpp>
#include <attn/train/checkpoint.hpp>
#include <attn/train/examples.hpp>
#include <attn/train/fit.hpp>
#include <attn/train/hub.hpp>
#include <attn/train/loss_curve.hpp>
#include <attn/train/metrics.hpp>
#include <attn/train/recipe.hpp>
#include <attn/train/task.hpp>
#include <attn/train/vocabulary.hpp>
