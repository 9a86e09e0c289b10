// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/any_view.hpp>
#include <attn/error.hpp>
#include <initializer_list>
#include <memory>
#include <memory_resource>
#include <span>
#include <vector>

namespace attn {

// Owned memory with run-time rank and dtype. Copies share the memory (as a shared_ptr does); `clone` copies it.
// New tensors are row-major and aligned to 64 bytes.
class ATTN_API Tensor {
 public:
  Tensor() = default;  // holds nothing: has_value() is false

  // Uninitialised memory from `memory`, or from the default resource when it is null. Throws Error for a negative
  // extent or a size that overflows, std::bad_alloc when there is no memory.
  static Tensor empty(DType dtype, std::span<const std::ptrdiff_t> shape, std::pmr::memory_resource* memory = nullptr);
  template <std::integral... I>
  static Tensor empty(DType dtype, I... extents) {
    const std::ptrdiff_t shape[sizeof...(I) + 1]{static_cast<std::ptrdiff_t>(extents)...};
    return empty(dtype, std::span<const std::ptrdiff_t>(shape, sizeof...(I)));
  }
  static Tensor zeros(DType dtype, std::span<const std::ptrdiff_t> shape, std::pmr::memory_resource* memory = nullptr);
  template <std::integral... I>
  static Tensor zeros(DType dtype, I... extents) {
    const std::ptrdiff_t shape[sizeof...(I) + 1]{static_cast<std::ptrdiff_t>(extents)...};
    return zeros(dtype, std::span<const std::ptrdiff_t>(shape, sizeof...(I)));
  }
  // A copy of the values, row-major: Tensor::of<float>({1, 0, 0, 1}, 2, 2).
  template <Element T, std::integral... I>
  static Tensor of(std::initializer_list<T> values, I... extents);
  // Memory that somebody else owns, kept alive by `owner` (a file mapping, an array of another library).
  static Tensor adopt(DType dtype, void* data, std::span<const std::ptrdiff_t> shape,
                      std::span<const std::ptrdiff_t> strides, std::shared_ptr<void> owner);
  template <Element T, int R>
  static Tensor adopt(View<T, R> v, std::shared_ptr<void> owner) {
    return adopt(dtype_of<T>, v.data(), v.extents().n, v.strides().n, std::move(owner));
  }

  bool has_value() const noexcept { return impl_ != nullptr; }
  DType dtype() const noexcept;
  int rank() const noexcept { return static_cast<int>(shape().size()); }
  std::span<const std::ptrdiff_t> shape() const noexcept;
  std::span<const std::ptrdiff_t> strides() const noexcept;
  // Extent of dimension d; negative d counts from the end.
  std::ptrdiff_t extent(int d) const;
  // Number of elements.
  std::ptrdiff_t size() const noexcept;
  bool is_contiguous() const noexcept;
  void* data() & noexcept;
  const void* data() const& noexcept;

  // Typed views. Throw Error when dtype or rank differ.
  template <Element T, int R>
  View<T, R> view() & {
    return typed_view<T, R>();
  }
  template <Element T, int R>
  View<const T, R> view() const& {
    return typed_view<T, R>();
  }
  template <Element T, int R>
  View<T, R> view() && = delete;  // would outlive its memory

  // All elements of a contiguous tensor. Throw Error when the dtype differs or the tensor is not contiguous.
  template <Element T>
  std::span<T> values() & {
    return {static_cast<T*>(contiguous_data(dtype_of<T>)), static_cast<std::size_t>(size())};
  }
  template <Element T>
  std::span<const T> values() const& {
    return {static_cast<const T*>(contiguous_data(dtype_of<T>)), static_cast<std::size_t>(size())};
  }
  template <Element T>
  std::span<T> values() && = delete;  // would outlive its memory

  // The same memory under another shape of the same size. Throws Error when sizes differ or it is not contiguous.
  Tensor reshape(std::span<const std::ptrdiff_t> shape) const;
  template <std::integral... I>
  Tensor reshape(I... extents) const {
    const std::ptrdiff_t shape[sizeof...(I) + 1]{static_cast<std::ptrdiff_t>(extents)...};
    return reshape(std::span<const std::ptrdiff_t>(shape, sizeof...(I)));
  }
  // A row-major copy, converted between f32, f64, bf16 and f16 when `dtype` differs (round to nearest even).
  // Throws Error for a conversion to or from any other dtype.
  Tensor clone() const { return to(dtype()); }
  Tensor to(DType dtype) const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;

  explicit Tensor(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
  void* contiguous_data(DType dtype) const;
  void check_view(DType dtype, int rank) const;
  template <Element T, int R>
  View<T, R> typed_view() const {
    check_view(dtype_of<T>, R);
    Extents<R> e, s;
    for (int d = 0; d < R; ++d) {
      e[d] = shape()[static_cast<std::size_t>(d)];
      s[d] = strides()[static_cast<std::size_t>(d)];
    }
    return {const_cast<T*>(static_cast<const T*>(data())), e, s};
  }
  template <int R, Access A>
  friend class BasicAnyView;
};

template <Element T, std::integral... I>
Tensor Tensor::of(std::initializer_list<T> values, I... extents) {
  Tensor t = empty(dtype_of<T>, extents...);
  if (static_cast<std::size_t>(t.size()) != values.size()) {
    throw Error(
        "Tensor::of", "values",
        "found " + std::to_string(values.size()) + ", expected " + std::to_string(t.size()) + " as in the shape");
  }
  std::span<T> to = t.template values<T>();
  std::size_t i = 0;
  for (const T& x : values) to[i++] = x;
  return t;
}

template <int R, Access A>
BasicAnyView<R, A>::BasicAnyView(const Tensor& t) requires(A == Access::read)
    : data_(t.data()), dtype_(t.dtype()), rank_found_(t.has_value() ? t.rank() : R) {
  for (int d = 0; t.has_value() && d < R && t.rank() == R; ++d) {
    extents_[d] = t.shape()[static_cast<std::size_t>(d)];
    strides_[d] = t.strides()[static_cast<std::size_t>(d)];
  }
}
template <int R, Access A>
BasicAnyView<R, A>::BasicAnyView(Tensor& t) requires(A == Access::write)
    : data_(t.data()), dtype_(t.dtype()), rank_found_(t.has_value() ? t.rank() : R) {
  for (int d = 0; t.has_value() && d < R && t.rank() == R; ++d) {
    extents_[d] = t.shape()[static_cast<std::size_t>(d)];
    strides_[d] = t.strides()[static_cast<std::size_t>(d)];
  }
}

}  // namespace attn
