// SPDX-License-Identifier: Apache-2.0
#include <attn/autograd/update.hpp>
#include <attn/error.hpp>

#include "autograd/dense.hpp"
#include "autograd/sums.hpp"
#include "base/concat.hpp"
#include "base/convert.hpp"
#include "kernels/adam.hpp"

namespace attn::autograd {
namespace {

void check(std::string_view where, const Tensor& parameter, std::initializer_list<const Tensor*> others) {
  if (parameter.dtype() != computed_in(parameter.dtype()) || !parameter.is_contiguous()) {
    throw Error(where, "parameter", "expected a row-major tensor of f32 or f64");
  }
  for (const Tensor* t : others) {
    if (!same_shape(*t, parameter) || !t->is_contiguous() || t->dtype() != parameter.dtype()) {
      throw Error(
          where, "moments",
          base::concat("shape ", base::shape_text(t->shape()), " of ", name_of(t->dtype()), ", expected ",
                       base::shape_text(parameter.shape()), " of ", name_of(parameter.dtype()), " as the parameter"));
    }
  }
}

void check_grad(std::string_view where, const Tensor& parameter, const Tensor& grad) {
  check_operand(where, "grad", grad);
  if (!same_shape(grad, parameter)) {
    throw Error(where, "grad",
                base::concat("shape ", base::shape_text(grad.shape()), ", expected ",
                             base::shape_text(parameter.shape()), " as the parameter"));
  }
}

}  // namespace

void adam_update(Tensor& parameter, const Tensor& grad, Tensor& mean, Tensor& mean_square, const AdamStep& s,
                 Context& context) {
  check("adam_update", parameter, {&mean, &mean_square});
  check_grad("adam_update", parameter, grad);
  const std::int64_t target = runtime::ContextAccess::isa(context).target;
  with_type(parameter.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const Dense<T> g(grad, context);
    T *p = static_cast<T*>(parameter.data()), *m = static_cast<T*>(mean.data()),
      *v = static_cast<T*>(mean_square.data());
    const auto as = [](double x) { return static_cast<T>(x); };
    const kernels::AdamNumbers<T> n{as(1 - s.beta1), as(s.beta2), as(1 - s.beta2), as(s.eps),
                                    as(s.step_size), as(s.root),  as(s.shrink),    as(s.decay_grad)};
    for_each_piece(parameter.size(), kTaskElements, context, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
      kernels::adam(p + begin, g.data() + begin, m + begin, v + begin, end - begin, n, target);
    });
  });
}

void sgd_update(Tensor& parameter, const Tensor& grad, Tensor& buffer, const SgdStep& s, Context& context) {
  if (s.momentum != 0) {
    check("sgd_update", parameter, {&buffer});
  } else {
    check("sgd_update", parameter, {});
  }
  check_grad("sgd_update", parameter, grad);
  with_type(parameter.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const Dense<T> g(grad, context);
    T *p = static_cast<T*>(parameter.data()), *b = static_cast<T*>(buffer.data());
    const T rate = static_cast<T>(s.rate), momentum = static_cast<T>(s.momentum), decay = static_cast<T>(s.decay);
    const T keep = s.first ? T{0} : momentum, take = s.first ? T{1} : static_cast<T>(1 - s.dampening);
    for_each_piece(parameter.size(), kTaskElements, context, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
      for (std::ptrdiff_t i = begin; i < end; ++i) {
        T change = g.data()[i] + decay * p[i];
        if (momentum != 0) {
          b[i] = keep * b[i] + take * change;
          change = s.nesterov ? change + momentum * b[i] : b[i];
        }
        p[i] -= rate * change;
      }
    });
  });
}

void average_update(Tensor& mean, const Tensor& value, double keep, Context& context) {
  check("average_update", mean, {&value});
  with_type(mean.dtype(), [&](auto zero) {
    using T = decltype(zero);
    T* m = static_cast<T*>(mean.data());
    const T *v = static_cast<const T*>(value.data()), old = static_cast<T>(keep), fresh = static_cast<T>(1 - keep);
    for_each_piece(mean.size(), kTaskElements, context, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
      for (std::ptrdiff_t i = begin; i < end; ++i) m[i] = old * m[i] + fresh * v[i];
    });
  });
}

void scale_in_place(Tensor& t, double factor, Context& context) {
  check_operand("scale_in_place", "t", t);
  if (!t.is_contiguous()) throw Error("scale_in_place", "t", "expected a row-major tensor");
  for_each_piece(t.size(), kTaskElements, context, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
    if (t.dtype() == DType::f32) {
      float* x = static_cast<float*>(t.data());
      for (std::ptrdiff_t i = begin; i < end; ++i) x[i] *= static_cast<float>(factor);
      return;
    }
    for (std::ptrdiff_t i = begin; i < end; ++i) {
      base::store_as(t.dtype(), t.data(), i, factor * base::load_as<double>(t.dtype(), t.data(), i));
    }
  });
}

double sum_of_squares(const Tensor& t, Context& context) {
  check_operand("sum_of_squares", "t", t);
  return with_type(t.dtype(), [&](auto zero) {
    const Dense<decltype(zero)> x(t, context);
    return sum_in_pieces(t.size(), context, [&](std::ptrdiff_t i) {
      const double value = static_cast<double>(x.data()[i]);
      return value * value;
    });
  });
}

void assign(Tensor& to, const Tensor& from, Context& context) {
  check_operand("assign", "to", to);
  check_operand("assign", "from", from);
  if (!same_shape(to, from) || !to.is_contiguous() || !from.is_contiguous()) {
    throw Error("assign", "from",
                base::concat("shape ", base::shape_text(from.shape()), ", expected a row-major ",
                             base::shape_text(to.shape()), " as in `to`"));
  }
  copy_elements(from, to, context);
}

}  // namespace attn::autograd
