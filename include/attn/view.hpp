// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <attn/dtype.hpp>
#include <concepts>
#include <cstddef>
#include <utility>

namespace attn {

// Sizes or strides of R dimensions. Takes any integer type per dimension, so that size_t and int mix without casts.
template <int R>
struct Extents {
  std::array<std::ptrdiff_t, R> n{};

  constexpr Extents() = default;
  template <std::integral... I>
  requires(sizeof...(I) == R) constexpr Extents(I... i) : n{static_cast<std::ptrdiff_t>(i)...} {}

  constexpr std::ptrdiff_t operator[](int d) const { return n[static_cast<std::size_t>(d)]; }
  constexpr std::ptrdiff_t& operator[](int d) { return n[static_cast<std::size_t>(d)]; }
  constexpr std::ptrdiff_t product() const {
    std::ptrdiff_t p = 1;
    for (const std::ptrdiff_t x : n) p *= x;
    return p;
  }
  friend constexpr bool operator==(const Extents&, const Extents&) = default;
};

// Strides, in elements, of a dense array whose last dimension is contiguous.
template <int R>
constexpr Extents<R> row_major(const Extents<R>& extents) {
  Extents<R> strides;
  std::ptrdiff_t step = 1;
  for (int d = R - 1; d >= 0; --d) {
    strides[d] = step;
    step *= extents[d];
  }
  return strides;
}

// Somebody's memory seen as an array of R dimensions: pointer, extents, signed strides in elements. Owns nothing,
// is copied by value. A stride of 0 repeats one element (broadcast); a negative one walks backwards.
template <class T, int R>
class View {
 public:
  constexpr View() = default;
  constexpr View(T* data, const Extents<R>& extents) : data_(data), extents_(extents), strides_(row_major(extents)) {}
  constexpr View(T* data, const Extents<R>& extents, const Extents<R>& strides)
      : data_(data), extents_(extents), strides_(strides) {}
  template <class U>
  requires(std::is_same_v<const U, T> && !std::is_const_v<U>) constexpr View(const View<U, R>& v)
      : data_(v.data()), extents_(v.extents()), strides_(v.strides()) {}

  constexpr T* data() const { return data_; }
  constexpr const Extents<R>& extents() const { return extents_; }
  constexpr const Extents<R>& strides() const { return strides_; }
  constexpr std::ptrdiff_t extent(int d) const { return extents_[d]; }
  constexpr std::ptrdiff_t stride(int d) const { return strides_[d]; }
  constexpr std::ptrdiff_t size() const { return extents_.product(); }

  template <std::integral... I>
  requires(sizeof...(I) == R) constexpr T& operator()(I... i) const {
    std::ptrdiff_t at = 0;
    int d = 0;
    ((at += static_cast<std::ptrdiff_t>(i) * strides_[d++]), ...);
    return data_[at];
  }

  // Elements begin..end of dimension d.
  constexpr View slice(int d, std::ptrdiff_t begin, std::ptrdiff_t end) const {
    View v = *this;
    v.data_ += begin * strides_[d];
    v.extents_[d] = end - begin;
    return v;
  }
  constexpr View transpose(int a, int b) const {
    View v = *this;
    std::swap(v.extents_[a], v.extents_[b]);
    std::swap(v.strides_[a], v.strides_[b]);
    return v;
  }
  // Element i of dimension d; the dimension goes.
  constexpr View<T, R - 1> select(int d, std::ptrdiff_t i) const requires(R > 1) {
    Extents<R - 1> e, s;
    for (int k = 0, j = 0; k < R; ++k) {
      if (k == d) continue;
      e[j] = extents_[k];
      s[j++] = strides_[k];
    }
    return {data_ + i * strides_[d], e, s};
  }
  // Splits dimension d into (a, b): (L, H*D) becomes (L, H, D) by unflatten(1, H, D).
  template <std::integral A, std::integral B>
  constexpr View<T, R + 1> unflatten(int d, A a, B b) const {
    Extents<R + 1> e, s;
    for (int k = 0, j = 0; k < R; ++k) {
      if (k == d) {
        e[j] = static_cast<std::ptrdiff_t>(a);
        s[j++] = strides_[k] * static_cast<std::ptrdiff_t>(b);
        e[j] = static_cast<std::ptrdiff_t>(b);
        s[j++] = strides_[k];
      } else {
        e[j] = extents_[k];
        s[j++] = strides_[k];
      }
    }
    return {data_, e, s};
  }
  // A new dimension of extent 1 before dimension d.
  constexpr View<T, R + 1> unsqueeze(int d) const {
    Extents<R + 1> e, s;
    for (int k = 0, j = 0; k <= R; ++k) {
      e[k] = k == d ? 1 : extents_[j];
      s[k] = k == d ? 0 : strides_[j++];
    }
    return {data_, e, s};
  }

 private:
  T* data_ = nullptr;
  Extents<R> extents_{}, strides_{};
};

// A row-major view of a pointer: view(p, batch, heads, tokens, dim).
template <class T, std::integral... I>
constexpr auto view(T* data, I... extents) {
  return View<T, static_cast<int>(sizeof...(I))>(data, {extents...});
}

// Sizes of a four-dimensional attention operand.
struct Shape {
  std::ptrdiff_t batch = 1, tokens = 0, heads = 1, dim = 0;
};
// The two layouts people have, both seen as logical (batch, head, token, dim):
// (batch, token, head, dim), as a projection writes it, and (batch, head, token, dim).
template <class T>
constexpr View<T, 4> from_blhd(T* data, Shape s) {
  return View<T, 4>(data, {s.batch, s.tokens, s.heads, s.dim}).transpose(1, 2);
}
template <class T>
constexpr View<T, 4> from_bhld(T* data, Shape s) {
  return {data, {s.batch, s.heads, s.tokens, s.dim}};
}

}  // namespace attn
