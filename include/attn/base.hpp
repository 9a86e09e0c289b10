// SPDX-License-Identifier: Apache-2.0
// Dtypes, views, tensors and errors: what every other header stands on.
#pragma once

#include <attn/any_view.hpp>
#include <attn/dtype.hpp>
#include <attn/error.hpp>
#include <attn/interop.hpp>
#include <attn/tensor.hpp>
#include <attn/version.hpp>
#include <attn/view.hpp>
