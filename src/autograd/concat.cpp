// SPDX-License-Identifier: Apache-2.0
#include "base/concat.hpp"

#include <algorithm>
#include <attn/autograd/shape.hpp>
#include <attn/error.hpp>

#include "autograd/broadcast.hpp"
#include "autograd/shape_views.hpp"

namespace attn::autograd {

Variable concat(const std::vector<Variable>& parts, int d, Context& context) {
  if (parts.empty()) throw Error("concat", "parts", "none, expected one or more");
  const Tensor& first = parts.front().value();
  check_operand("concat", "parts[0]", first);
  const std::ptrdiff_t extent = first.extent(d);
  const std::size_t at = static_cast<std::size_t>(d < 0 ? d + first.rank() : d);
  std::vector<std::ptrdiff_t> shape(first.shape().begin(), first.shape().end()), ends;
  shape[at] = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Tensor& part = parts[i].value();
    const std::string name = base::concat("parts[", i, "]");
    check_operand("concat", name, part, first);
    std::vector<std::ptrdiff_t> like(part.shape().begin(), part.shape().end());
    if (like.size() == shape.size()) like[at] = extent;
    if (!std::equal(like.begin(), like.end(), first.shape().begin(), first.shape().end())) {
      throw Error("concat", name,
                  base::concat("shape ", base::shape_text(part.shape()), ", expected ", base::shape_text(first.shape()),
                               " but for dimension ", at));
    }
    shape[at] += part.shape()[at];
    ends.push_back(shape[at]);
  }
  Tensor y = Tensor::empty(first.dtype(), shape, context.memory());
  const int along = static_cast<int>(at);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    copy_into(parts[i].value(), sliced(y, along, i == 0 ? 0 : ends[i - 1], ends[i]));
  }
  return record("concat", parts, y, [along, ends](const Tensor& dy, Context&) {
    std::vector<Tensor> grads;
    for (std::size_t i = 0; i < ends.size(); ++i) {
      grads.push_back(sliced(dy, along, i == 0 ? 0 : ends[i - 1], ends[i]));
    }
    return grads;
  });
}

}  // namespace attn::autograd
