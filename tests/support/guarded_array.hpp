// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/any_view.hpp>
#include <cstring>
#include <vector>

#include "base/convert.hpp"

namespace attn::test {

// How an array lies in memory. Every layout but `dense` leaves gaps or runs backwards.
enum class Layout {
  dense,         // row-major
  tokens_first,  // dimensions 1 and 2 swapped, as in (batch, token, head, dim), and a gap after each token
  reversed,      // the last two dimensions run backwards
  strided,       // every other element of the last dimension
  broadcast,     // all dimensions but the last two have stride 0
};

template <int R>
Extents<R> strides_of(Layout layout, const Extents<R>& extents) {
  Extents<R> strides;
  std::ptrdiff_t step = layout == Layout::strided ? 2 : 1;
  const bool swapped = layout == Layout::tokens_first && R >= 3;
  for (int place = R - 1; place >= 0; --place) {
    const int d = swapped && place == 1 ? 2 : swapped && place == 2 ? 1 : place;
    strides[d] = layout == Layout::broadcast && d < R - 2 ? 0 : step;
    step *= extents[d];
    if (layout == Layout::tokens_first && d == 1) step += 3;
  }
  if (layout == Layout::reversed) {
    for (int d = R < 2 ? 0 : R - 2; d < R; ++d) strides[d] = -strides[d];
  }
  return strides;
}

// An array of any dtype and layout between guard bands: bytes before, after and between its elements hold canaries.
// Its first element is aligned for its type and no further. An array without elements has a null pointer.
template <int R>
class GuardedArray {
 public:
  GuardedArray() = default;
  GuardedArray(DType dtype, const Extents<R>& extents, Layout layout = Layout::dense)
      : dtype_(dtype), extents_(extents), strides_(strides_of(layout, extents)) {
    std::ptrdiff_t lowest = 0, highest = extents.product() == 0 ? -1 : 0;
    for (int d = 0; d < R && highest >= 0; ++d) {
      (strides_[d] < 0 ? lowest : highest) += (extents[d] - 1) * strides_[d];
    }
    first_ = kGuardBytes / size() + 1 - lowest;
    element_.assign(static_cast<std::size_t>(first_ + highest + 1), false);
    element_.resize(element_.size() + static_cast<std::size_t>(kGuardBytes / size()), false);
    for_each([&](const Extents<R>& index) { element_[static_cast<std::size_t>(offset(index))] = true; });
    memory_.resize(element_.size() * static_cast<std::size_t>(size()) / sizeof(double) + 1);
    std::memset(memory_.data(), kCanary, memory_.size() * sizeof(double));
  }
  GuardedArray(GuardedArray&&) = default;
  GuardedArray& operator=(GuardedArray&&) = default;

  In<R> in() const { return {dtype_, data(), extents_, strides_}; }
  Out<R> out() { return {dtype_, data(), extents_, strides_}; }
  bool wanted() const { return dtype_ != DType::none; }
  const Extents<R>& extents() const { return extents_; }

  // Element by element in row-major order, each from one call of make(index).
  template <class F>
  void fill(F make) {
    for_each([&](const Extents<R>& index) { set(index, make(index)); });
  }
  void set(const Extents<R>& index, double x) {
    const std::ptrdiff_t at = offset(index);
    switch (dtype_) {
      case DType::boolean:
      case DType::u8:
        reinterpret_cast<std::uint8_t*>(bytes())[at] = static_cast<std::uint8_t>(x);
        break;
      case DType::i32:
        reinterpret_cast<std::int32_t*>(bytes())[at] = static_cast<std::int32_t>(x);
        break;
      case DType::i64:
        reinterpret_cast<std::int64_t*>(bytes())[at] = static_cast<std::int64_t>(x);
        break;
      default:
        base::store_as(dtype_, bytes(), at, x);
    }
  }
  double operator()(const Extents<R>& index) const { return base::load_as<double>(dtype_, bytes(), offset(index)); }
  // All elements, row-major.
  std::vector<double> values() const {
    std::vector<double> all;
    for_each([&](const Extents<R>& index) { all.push_back((*this)(index)); });
    return all;
  }
  // All elements' bits, row-major.
  std::vector<std::uint64_t> bits() const {
    std::vector<std::uint64_t> all;
    for_each([&](const Extents<R>& index) {
      all.push_back(0);
      std::memcpy(&all.back(), bytes() + offset(index) * size(), static_cast<std::size_t>(size()));
    });
    return all;
  }

  // Makes every element a NaN, so that one which nobody writes is seen.
  void poison() {
    for_each([&](const Extents<R>& index) {
      std::memset(bytes() + offset(index) * size(), 0xFF, static_cast<std::size_t>(size()));
    });
  }
  // Whether no byte outside the elements has changed.
  bool guards_hold() const {
    for (std::size_t at = 0; at < element_.size(); ++at) {
      if (element_[at]) continue;
      for (std::ptrdiff_t byte = 0; byte < size(); ++byte) {
        if (bytes()[static_cast<std::ptrdiff_t>(at) * size() + byte] != kCanary) return false;
      }
    }
    return true;
  }

 private:
  static constexpr std::ptrdiff_t kGuardBytes = 128;
  static constexpr unsigned char kCanary = 0xC5;

  template <class F>
  void for_each(F use) const {
    if (extents_.product() == 0) return;
    Extents<R> index;
    for (int d = R - 1; d >= 0;) {
      use(index);
      for (d = R - 1; d >= 0 && ++index[d] == extents_[d]; --d) index[d] = 0;
    }
  }
  std::ptrdiff_t size() const { return dtype_ == DType::none ? 1 : static_cast<std::ptrdiff_t>(size_of(dtype_)); }
  std::ptrdiff_t offset(const Extents<R>& index) const {
    std::ptrdiff_t at = first_;
    for (int d = 0; d < R; ++d) at += index[d] * strides_[d];
    return at;
  }
  unsigned char* bytes() { return reinterpret_cast<unsigned char*>(memory_.data()); }
  const unsigned char* bytes() const { return reinterpret_cast<const unsigned char*>(memory_.data()); }
  void* data() { return extents_.product() == 0 ? nullptr : bytes() + first_ * size(); }
  const void* data() const { return extents_.product() == 0 ? nullptr : bytes() + first_ * size(); }

  DType dtype_ = DType::none;
  Extents<R> extents_{}, strides_{};
  std::ptrdiff_t first_ = 0;     // place of element (0, ..., 0), in elements
  std::vector<bool> element_{};  // for each place whether an element lies there
  std::vector<double> memory_{};
};

}  // namespace attn::test
