// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <attn/autograd/variable.hpp>

#include "autograd/dense.hpp"
#include "autograd/node.hpp"
#include "base/concat.hpp"

namespace attn::autograd {
namespace {

std::uint64_t next_number() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

thread_local bool recording = true;

}  // namespace

Node::Node(std::string op_name, const Tensor& value)
    : op(std::move(op_name)),
      number(next_number()),
      shape(value.shape().begin(), value.shape().end()),
      dtype(value.dtype()) {}

// A long tape that nobody has run backward would otherwise be released by recursion as deep as it is long.
Node::~Node() {
  std::vector<std::shared_ptr<Node>> last = std::move(inputs);
  while (!last.empty()) {
    const std::shared_ptr<Node> node = std::move(last.back());
    last.pop_back();
    if (node == nullptr || node.use_count() > 1) continue;
    node->backward = nullptr;
    for (std::shared_ptr<Node>& input : node->inputs) last.push_back(std::move(input));
    node->inputs.clear();
  }
}

void Node::release() {
  backward = nullptr;
  inputs.clear();
  is_used = true;
}

void check_grad(std::string_view where, std::string_view argument, const Node& node, const Tensor& grad) {
  if (grad.dtype() != node.dtype) {
    throw Error(where, argument,
                base::concat("dtype ", name_of(grad.dtype()), ", expected ", name_of(node.dtype), " as the value"));
  }
  if (!std::equal(grad.shape().begin(), grad.shape().end(), node.shape.begin(), node.shape.end())) {
    throw Error(where, argument,
                base::concat("shape ", base::shape_text(grad.shape()), ", expected ", base::shape_text(node.shape),
                             " as the value"));
  }
}

void accumulate(Tensor& grad, const Tensor& addend, Context& context) {
  if (grad.has_value()) {
    add_in_place(grad, addend, context);
  } else {
    grad = copy_of(addend, context);
  }
}

Variable::Variable(Tensor value, bool needs_grad) : value_(std::move(value)) {
  if (!needs_grad) return;
  if (!is_floating(value_.dtype())) {
    throw Error("Variable", "value",
                base::concat("dtype ", name_of(value_.dtype()), " has no gradient, expected f32, f64, bf16 or f16"));
  }
  node_ = std::make_shared<Node>("", value_);
}

Tensor Variable::grad() const { return node_ == nullptr ? Tensor() : node_->grad; }

void Variable::zero_grad() const {
  if (node_ != nullptr) node_->grad = Tensor();
}

void Variable::add_to_grad(const Tensor& grad, Context& context) const {
  if (node_ == nullptr || !node_->is_leaf()) {
    throw Error("add_to_grad", "", "the variable is no leaf, expected one made with needs_grad");
  }
  check_grad("add_to_grad", "grad", *node_, grad);
  accumulate(node_->grad, grad, context);
}

void Variable::on_grad(std::function<void(const Tensor&)> look) const {
  if (node_ == nullptr) throw Error("on_grad", "", "the variable is a constant, which gets no gradient");
  node_->looks.push_back(std::move(look));
}

Variable record(std::string_view name, std::vector<Variable> inputs, Tensor output, Backward backward) {
  Variable result{std::move(output)};
  const auto needs = [](const Variable& v) { return v.needs_grad(); };
  if (!recording || std::none_of(inputs.begin(), inputs.end(), needs)) return result;
  if (!is_floating(result.dtype())) {
    throw Error(name, "output",
                base::concat("dtype ", name_of(result.dtype()), " has no gradient, expected f32, f64, bf16 or f16"));
  }
  auto node = std::make_shared<Node>(std::string(name.empty() ? "op" : name), result.value());
  for (const Variable& input : inputs) node->inputs.push_back(VariableAccess::node(input));
  node->backward = std::move(backward);
  VariableAccess::set_node(result, std::move(node));
  return result;
}

NoGrad::NoGrad() noexcept : was_recording_(recording) { recording = false; }
NoGrad::~NoGrad() { recording = was_recording_; }
bool is_recording() noexcept { return recording; }

}  // namespace attn::autograd
