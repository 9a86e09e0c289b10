// SPDX-License-Identifier: Apache-2.0
// The whole public face of the core: attention, its operands and its options.
#pragma once

#include <attn/attention.hpp>
#include <attn/attention_backward.hpp>
#include <attn/base.hpp>
#include <attn/context.hpp>
#include <attn/observer.hpp>
