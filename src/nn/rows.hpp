// SPDX-License-Identifier: Apache-2.0
// Arrays of any rank as the rows that functions of rank 2 take.
#pragma once

#include <attn/any_view.hpp>
#include <attn/autograd/variable.hpp>
#include <attn/context.hpp>
#include <attn/nn/input.hpp>
#include <attn/tensor.hpp>
#include <string_view>
#include <vector>

namespace attn::nn {

// Throws Error naming `where` and `argument` when x has elements but no memory.
void check_memory(std::string_view where, std::string_view argument, const Input& x);

// Throws Error naming `where` and `argument` unless x has a rank of 1 or more, memory, and one of the four number
// types.
void check_numbers(std::string_view where, std::string_view argument, const Input& x);

// Throws Error naming `where` unless the parameter was given numbers by initialise or load_parameters.
void check_trainable(std::string_view where, const autograd::Variable& parameter);

// A parameter in the dtype that a layer computes in: itself, or a copy. Nothing of one that holds nothing.
Tensor in_dtype(const Tensor& parameter, DType dtype);

// A row-major copy of x, in its own dtype.
Tensor contiguous(const Input& x, Context& context);

// x (..., features) as (rows, features): its own memory when one stride serves all leading dimensions, else a copy
// kept in `copy`.
In<2> as_rows(const Input& x, Context& context, Tensor& copy);

// A row-major tensor of x's shape with another last extent.
Tensor empty_like_rows(const Input& x, std::ptrdiff_t features, DType dtype, Context& context);

// A contiguous tensor as (rows, features).
Out<2> rows_of(Tensor& t);

}  // namespace attn::nn
