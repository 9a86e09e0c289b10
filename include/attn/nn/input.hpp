// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <attn/any_view.hpp>
#include <attn/tensor.hpp>
#include <span>

namespace attn::nn {

// What a layer reads: somebody's array of any dtype, strides and rank up to 4, where the functions below the layers fix
// the rank. It comes implicitly from a Tensor, a View or an In<R>, owns nothing and is passed by value. dtype `none`
// means not given.
class ATTN_API Input {
 public:
  static constexpr int kMaxRank = 4;

  constexpr Input() = default;
  Input(const Tensor& t);  // throws Error for a rank above 4
  template <int R, Access A>
  requires(R <= kMaxRank) constexpr Input(const BasicAnyView<R, A>& v) : data_(v.data()), dtype_(v.dtype()), rank_(R) {
    for (int d = 0; d < R; ++d) {
      extents_[static_cast<std::size_t>(d)] = v.extent(d);
      strides_[static_cast<std::size_t>(d)] = v.stride(d);
    }
  }
  template <Element T, int R>
  requires(R <= kMaxRank) constexpr Input(const View<T, R>& v)
      : Input(In<R>(View<const std::remove_const_t<T>, R>(v))) {}

  constexpr bool given() const { return dtype_ != DType::none; }
  constexpr DType dtype() const { return dtype_; }
  constexpr int rank() const { return rank_; }
  constexpr const void* data() const { return data_; }
  constexpr std::span<const std::ptrdiff_t> shape() const { return {extents_.data(), static_cast<std::size_t>(rank_)}; }
  // Of dimension d; negative d counts from the end.
  constexpr std::ptrdiff_t extent(int d) const { return extents_[static_cast<std::size_t>(d < 0 ? d + rank_ : d)]; }
  constexpr std::ptrdiff_t stride(int d) const { return strides_[static_cast<std::size_t>(d < 0 ? d + rank_ : d)]; }
  // Number of elements.
  std::ptrdiff_t size() const noexcept;

 private:
  const void* data_ = nullptr;
  std::array<std::ptrdiff_t, kMaxRank> extents_{}, strides_{};
  DType dtype_ = DType::none;
  int rank_ = 0;
};

}  // namespace attn::nn
