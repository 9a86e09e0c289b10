// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/context.hpp>
#include <attn/tensor.hpp>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace attn::autograd {

struct Node;

// A tensor and its place on the tape: what differentiable functions take and give. A handle, copied like a pointer:
// copies share the value and the gradient.
//
// The tape is made of the variables themselves: each result of a differentiable function holds what its derivative
// needs, until backward() has used it or the last handle is gone (Griewank & Walther 2008, "Evaluating derivatives",
// chapter 3). One thread uses a tape at a time; different tapes are independent.
class ATTN_API Variable {
 public:
  Variable() = default;  // holds nothing
  // A constant, or with `needs_grad` a leaf: a parameter whose gradient backward() leaves in grad(). The value is
  // shared, not copied. Throws Error when a gradient is wanted of anything but f32, f64, bf16 or f16.
  explicit Variable(Tensor value, bool needs_grad = false);

  bool has_value() const noexcept { return value_.has_value(); }
  // The memory is shared with whoever asks, so that an optimiser writes to it in place.
  const Tensor& value() const& noexcept { return value_; }
  Tensor value() && noexcept { return std::move(value_); }
  DType dtype() const noexcept { return value_.dtype(); }
  std::span<const std::ptrdiff_t> shape() const noexcept { return value_.shape(); }
  // Extent of dimension d; negative d counts from the end.
  std::ptrdiff_t extent(int d) const { return value_.extent(d); }
  bool needs_grad() const noexcept { return node_ != nullptr; }
  // Whether both are handles of the same variable, not only of the same numbers.
  bool is_same(const Variable& other) const noexcept {
    return node_ == other.node_ && value_.data() == other.value_.data() && value_.rank() == other.value_.rank();
  }

  // Of a leaf: the sum of the gradients of all backward() calls since zero_grad(), of the value's shape and dtype;
  // holds nothing before the first. Its memory is the leaf's own, so that it may be changed in place.
  Tensor grad() const;
  void zero_grad() const;
  // Adds `grad` to that of a leaf, as backward() does. Throws Error for another shape or dtype, and for no leaf.
  void add_to_grad(const Tensor& grad, Context& context = default_context()) const;

  // Adds the gradient of this variable, which holds one number, to that of every leaf it was computed from, in an order
  // that follows from the tape alone: any number of threads gives the same bits. The tape behind it is used up, and its
  // memory is free when this returns. Throws Error for a variable of several numbers or without a gradient, for a tape
  // that was used before, and for an op that gives a gradient of a wrong shape.
  void backward(Context& context = default_context()) const;
  // The same from the gradient of a loss with regard to this variable, which may hold any number of numbers.
  void backward(const Tensor& grad, Context& context = default_context()) const;

  // The same value as a constant: nothing flows back through it.
  Variable detach() const { return Variable(value_); }
  // Calls `look` with the whole gradient of this variable whenever backward() passes it, before it goes on to what the
  // variable was computed from. The tensor must not be changed. Throws Error for a constant.
  void on_grad(std::function<void(const Tensor& grad)> look) const;

 private:
  friend struct VariableAccess;
  Tensor value_;
  std::shared_ptr<Node> node_;  // null for constants
};

// The vector-Jacobian product of an op: from the gradient of its output those of its inputs, in order, each of its
// input's shape and dtype. A tensor that holds nothing stands for a gradient of zeros. A tensor may be returned for
// several inputs, or be `grad_out` itself.
using Backward = std::function<std::vector<Tensor>(const Tensor& grad_out, Context& context)>;

// Puts an op on the tape: `output` was computed from `inputs`, and `backward` differentiates it. Returns the output as
// a variable; a constant, with nothing recorded, when no input needs a gradient or a NoGrad lives. `name` stands in
// messages. What the derivative reads is captured in `backward`, and released after its use.
//
//   Variable square(const Variable& x) {
//     Tensor y = ...;  // x * x
//     return record("square", {x}, y, [x](const Tensor& dy, Context&) { Tensor dx = ...; return std::vector{dx}; });
//   }
ATTN_API Variable record(std::string_view name, std::vector<Variable> inputs, Tensor output, Backward backward);

// While one lives, the thread that made it records nothing: for evaluation, and for changes to parameters.
class ATTN_API NoGrad {
 public:
  NoGrad() noexcept;
  ~NoGrad();
  NoGrad(const NoGrad&) = delete;
  NoGrad& operator=(const NoGrad&) = delete;

 private:
  bool was_recording_;
};

// Whether this thread records: no NoGrad lives on it.
ATTN_API bool is_recording() noexcept;

}  // namespace attn::autograd
