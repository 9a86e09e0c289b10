// SPDX-License-Identifier: Apache-2.0
// What attention did, as data: recorded weights, where heads look, every step with its numbers.
#pragma once

#include <attn/inspect/explain.hpp>
#include <attn/inspect/patterns.hpp>
#include <attn/inspect/record.hpp>
