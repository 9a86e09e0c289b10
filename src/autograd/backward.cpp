// SPDX-License-Identifier: Apache-2.0
// The way back over a tape: each op once, the latest first, so that the gradient of its output is complete.
#include <algorithm>
#include <unordered_map>

#include "autograd/dense.hpp"
#include "autograd/node.hpp"
#include "base/concat.hpp"

namespace attn::autograd {
namespace {

constexpr std::string_view kBackward = "backward";

// The gradient of one node while its parts arrive.
struct Sum {
  Tensor grad;
  bool is_own = false;  // else it belongs to the op that gave it, and perhaps to another node as well

  void add(const Tensor& part, Context& context) {
    if (!grad.has_value()) {
      grad = part;
    } else if (is_own) {
      add_in_place(grad, part, context);
    } else {
      grad = sum_of(grad, part, context);
      is_own = true;
    }
  }
};

// Everything that `root` was computed from and that needs a gradient, the latest first.
std::vector<std::shared_ptr<Node>> tape_behind(const std::shared_ptr<Node>& root) {
  std::vector<std::shared_ptr<Node>> nodes{root};
  std::unordered_map<const Node*, bool> seen{{root.get(), true}};
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i]->is_used) {
      throw Error(kBackward, nodes[i]->op, "was run backward before, expected a tape that is used once");
    }
    for (std::size_t n = 0; n < nodes[i]->inputs.size(); ++n) {
      const std::shared_ptr<Node> input = nodes[i]->inputs[n];
      if (input != nullptr && seen.emplace(input.get(), true).second) nodes.push_back(input);
    }
  }
  std::sort(nodes.begin(), nodes.end(), [](const auto& a, const auto& b) { return a->number > b->number; });
  return nodes;
}

void run(const std::shared_ptr<Node>& root, const Tensor& seed, Context& context) {
  const NoGrad no_grad;
  std::vector<std::shared_ptr<Node>> nodes = tape_behind(root);
  std::unordered_map<const Node*, Sum> sums;
  sums[root.get()].grad = seed;
  for (std::shared_ptr<Node>& node : nodes) {
    const Sum sum = std::move(sums[node.get()]);
    sums.erase(node.get());
    if (sum.grad.has_value()) {
      for (const auto& look : node->looks) look(sum.grad);
      if (node->is_leaf()) {
        accumulate(node->grad, sum.grad, context);
      } else {
        const std::vector<Tensor> grads = node->backward(sum.grad, context);
        if (grads.size() != node->inputs.size()) {
          throw Error(kBackward, node->op,
                      base::concat("gave ", grads.size(), " gradients, expected one for each of ", node->inputs.size(),
                                   " inputs"));
        }
        for (std::size_t i = 0; i < grads.size(); ++i) {
          if (node->inputs[i] == nullptr || !grads[i].has_value()) continue;
          check_grad(kBackward, node->op + ": gradient " + std::to_string(i), *node->inputs[i], grads[i]);
          sums[node->inputs[i].get()].add(grads[i], context);
        }
      }
    }
    if (!node->is_leaf()) node->release();
    node.reset();
  }
}

}  // namespace

void Variable::backward(const Tensor& grad, Context& context) const {
  if (node_ == nullptr) throw Error(kBackward, "", "the variable was computed from nothing that needs a gradient");
  check_grad(kBackward, "grad", *node_, grad);
  run(node_, grad, context);
}

void Variable::backward(Context& context) const {
  if (value_.size() != 1) {
    throw Error(kBackward, "",
                base::concat("the variable has shape ", base::shape_text(shape()),
                             ", expected one number, or a gradient to begin with"));
  }
  backward(filled(value_.dtype(), value_.shape(), 1, context), context);
}

}  // namespace attn::autograd
