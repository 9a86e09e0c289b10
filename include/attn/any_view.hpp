// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/interop.hpp>
#include <attn/view.hpp>

namespace attn {

class Tensor;
enum class Access { read, write };

// A view whose element type is known at run time; rank and constness stay compile-time. This is what functions take:
// it comes implicitly from a View, a Tensor or an mdspan-like, and is passed by value.
// dtype `none` means not given (inputs) or not wanted (outputs); a null pointer with non-zero extents is an error.
template <int R, Access A>
class BasicAnyView {
 public:
  using pointer = std::conditional_t<A == Access::read, const void*, void*>;

  constexpr BasicAnyView() = default;
  constexpr BasicAnyView(DType dtype, pointer data, const Extents<R>& extents, const Extents<R>& strides)
      : data_(data), extents_(extents), strides_(strides), dtype_(dtype) {}
  template <Element T>
  requires(A == Access::read || !std::is_const_v<T>) constexpr BasicAnyView(const View<T, R>& v)
      : data_(v.data()), extents_(v.extents()), strides_(v.strides()), dtype_(dtype_of<std::remove_const_t<T>>) {}
  template <Access W>
  requires(A == Access::read && W == Access::write) constexpr BasicAnyView(const BasicAnyView<R, W>& v)
      : data_(v.data()), extents_(v.extents()), strides_(v.strides()), dtype_(v.dtype()), rank_found_(v.rank_found()) {}
  // A tensor has its rank at run time: one of another rank is refused by the function that gets it, by name.
  BasicAnyView(const Tensor& t) requires(A == Access::read);
  BasicAnyView(Tensor& t) requires(A == Access::write);
  template <class M>
  requires MdspanLike<std::remove_cvref_t<M>>
  constexpr BasicAnyView(const M& m) : BasicAnyView(as_view(m)) {}

  constexpr pointer data() const { return data_; }
  constexpr DType dtype() const { return dtype_; }
  constexpr const Extents<R>& extents() const { return extents_; }
  constexpr const Extents<R>& strides() const { return strides_; }
  constexpr std::ptrdiff_t extent(int d) const { return extents_[d]; }
  constexpr std::ptrdiff_t stride(int d) const { return strides_[d]; }
  constexpr bool wanted() const { return dtype_ != DType::none; }
  // R, or the rank of the tensor that this was made from.
  constexpr int rank_found() const { return rank_found_; }

  // Typed again. The caller has checked dtype().
  template <Element T>
  constexpr View<T, R> as() const {
    return {static_cast<T*>(data_), extents_, strides_};
  }

 private:
  pointer data_ = nullptr;
  Extents<R> extents_{}, strides_{};
  DType dtype_ = DType::none;
  int rank_found_ = R;
};

template <int R>
using In = BasicAnyView<R, Access::read>;
template <int R>
using Out = BasicAnyView<R, Access::write>;

}  // namespace attn
