// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/autograd/variable.hpp>
#include <cstdint>
#include <string>

namespace attn::autograd {

// A place on the tape: a leaf, or the output of an op. It holds no value, so that a value lives as long as somebody's
// handle or an op's `backward` needs it, and no longer.
struct Node {
  Node(std::string op, const Tensor& value);
  ~Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  bool is_leaf() const { return op.empty(); }
  // Drops what the derivative held.
  void release();

  std::string op;                             // empty for leaves
  std::vector<std::shared_ptr<Node>> inputs;  // null for constants
  Backward backward;
  std::uint64_t number = 0;  // of its creation: inputs have smaller ones than what is computed from them
  bool is_used = false;      // backward has run, and the rest is gone

  std::vector<std::ptrdiff_t> shape;  // of the value, and so of its gradient
  DType dtype = DType::none;
  std::vector<std::function<void(const Tensor&)>> looks;
  Tensor grad;  // of leaves
};

// What the folder's own files reach in a Variable.
struct VariableAccess {
  static const std::shared_ptr<Node>& node(const Variable& v) { return v.node_; }
  static void set_node(Variable& v, std::shared_ptr<Node> node) { v.node_ = std::move(node); }
};

// Throws Error unless `grad` has the node's shape and dtype.
void check_grad(std::string_view where, std::string_view argument, const Node& node, const Tensor& grad);

// grad += addend, or a copy of it where there is none yet.
void accumulate(Tensor& grad, const Tensor& addend, Context& context);

}  // namespace attn::autograd
