// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <attn/linear.hpp>

#include "kernels/matmul.hpp"
#include "ops/view_check.hpp"
#include "runtime/context_access.hpp"

namespace attn {
namespace {

// Room for the panels of a weight.
template <class T>
Tensor empty_panels(DType stored, const In<2>& weight, Context& context) {
  const std::ptrdiff_t shape[] = {kernels::panel_count<T>(weight.extent(0)), weight.extent(1),
                                  kernels::kPanelColumns<T>};
  return Tensor::empty(stored, shape, context.memory());
}

// Calls pack(panel) for every panel, from the context's threads.
template <class Pack>
void for_each_panel(const Tensor& panels, Context& context, const Pack& pack) {
  runtime::ContextAccess::executor(context).run(panels.extent(0), pack);
}

template <class T>
Tensor pack_full(const In<2>& weight, Context& context) {
  Tensor panels = empty_panels<T>(dtype_of<T>, weight, context);
  T* to = panels.values<T>().data();
  for_each_panel(panels, context, [&](std::ptrdiff_t p) {
    kernels::pack_panels({weight.dtype(), weight.data(), weight.extents(), weight.strides()}, p, p + 1, to);
  });
  return panels;
}

Tensor pack_bf16(const In<2>& weight, Context& context) {
  Tensor panels = empty_panels<float>(DType::bf16, weight, context);
  bf16* to = panels.values<bf16>().data();
  for_each_panel(panels, context, [&](std::ptrdiff_t p) {
    kernels::pack_bf16_panels({weight.dtype(), weight.data(), weight.extents(), weight.strides()}, p, p + 1, to);
  });
  return panels;
}

Tensor pack_int8(const In<2>& weight, Tensor& scales, Context& context) {
  Tensor panels = empty_panels<float>(DType::i8, weight, context);
  const std::ptrdiff_t shape[] = {panels.extent(0) * panels.extent(2)};
  scales = Tensor::empty(DType::f32, shape, context.memory());
  auto* to = panels.values<std::int8_t>().data();
  float* scale = scales.values<float>().data();
  std::atomic<bool> is_finite = true;
  for_each_panel(panels, context, [&](std::ptrdiff_t p) {
    if (!kernels::pack_int8_panels({weight.dtype(), weight.data(), weight.extents(), weight.strides()}, p, p + 1, to,
                                   scale)) {
      is_finite = false;
    }
  });
  if (!is_finite) throw Error("PackedWeight", "weight", "a number that is not finite, expected none for int8");
  return panels;
}

}  // namespace

PackedWeight::PackedWeight(In<2> weight, Context& context) : PackedWeight(weight, WeightStorage::full, context) {}

PackedWeight::PackedWeight(In<2> weight, WeightStorage storage, Context& context) : storage_(storage) {
  ops::check_floating("PackedWeight", "weight", weight);
  out_features_ = weight.extent(0);
  in_features_ = weight.extent(1);
  if (storage == WeightStorage::bf16) {
    memory_ = pack_bf16(weight, context);
  } else if (storage == WeightStorage::int8) {
    memory_ = pack_int8(weight, scale_memory_, context);
    scales_ = std::as_const(scale_memory_).values<float>().data();
  } else if (weight.dtype() == DType::f64) {
    dtype_ = DType::f64;
    memory_ = pack_full<double>(weight, context);
  } else {
    memory_ = pack_full<float>(weight, context);
  }
  panels_ = std::as_const(memory_).data();
}

PackedWeight PackedWeight::outputs(std::ptrdiff_t begin, std::ptrdiff_t end) const {
  constexpr std::ptrdiff_t kStep = kernels::kPanelColumns<float>;  // f64's panels are half as wide
  if (begin < 0 || end < begin || end > out_features_ || begin % kStep != 0) {
    throw Error("PackedWeight::outputs", "begin, end",
                base::concat(begin, ", ", end, ", expected a range within the ", out_features_,
                             " outputs that begins at a multiple of ", kStep));
  }
  PackedWeight part = *this;
  part.out_features_ = end - begin;
  const std::ptrdiff_t bytes = begin * in_features_ * static_cast<std::ptrdiff_t>(size_of(memory_.dtype()));
  if (panels_ != nullptr) part.panels_ = static_cast<const std::byte*>(panels_) + bytes;
  if (scales_ != nullptr) part.scales_ = scales_ + begin;
  return part;
}

}  // namespace attn
