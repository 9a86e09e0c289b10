// SPDX-License-Identifier: Apache-2.0
// Reverse-mode derivatives: variables, the tape they make, and the operations that can be differentiated.
#pragma once

#include <attn/autograd/attention.hpp>
#include <attn/autograd/elementwise.hpp>
#include <attn/autograd/embedding.hpp>
#include <attn/autograd/linear.hpp>
#include <attn/autograd/loss.hpp>
#include <attn/autograd/norm.hpp>
#include <attn/autograd/reduce.hpp>
#include <attn/autograd/shape.hpp>
#include <attn/autograd/softmax.hpp>
#include <attn/autograd/update.hpp>
#include <attn/autograd/variable.hpp>
