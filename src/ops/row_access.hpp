// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <attn/any_view.hpp>
#include <optional>

#include "base/convert.hpp"
#include "runtime/scratch.hpp"

namespace attn::ops {

// Pieces of a row as numbers of type T: where they stand when they are of that type and side by side, else widened into
// a buffer of the caller's.
template <class T>
class RowReader {
 public:
  explicit RowReader(const In<2>& x) : x_(x), is_direct_(x.dtype() == dtype_of<T> && x.stride(1) == 1) {}

  bool wanted() const { return x_.wanted(); }
  // Whether rows are read where they stand.
  bool is_direct() const { return is_direct_; }
  std::ptrdiff_t row_stride() const { return x_.stride(0); }
  const T* read(std::ptrdiff_t row, std::ptrdiff_t column, std::ptrdiff_t count, T* buffer) const noexcept {
    const std::ptrdiff_t at = row * x_.stride(0) + column * x_.stride(1);
    if (is_direct_) return static_cast<const T*>(x_.data()) + at;
    for (std::ptrdiff_t c = 0; c < count; ++c) {
      buffer[c] = base::load_as<T>(x_.dtype(), x_.data(), at + c * x_.stride(1));
    }
    return buffer;
  }

 private:
  In<2> x_;
  bool is_direct_;
};

// The other way: `begin` gives where to write a piece of a row, `end` takes it from there, rounded once, to where it
// belongs.
template <class T>
class RowWriter {
 public:
  explicit RowWriter(const Out<2>& y) : y_(y), is_direct_(y.dtype() == dtype_of<T> && y.stride(1) == 1) {}

  // Whether rows are written where they belong.
  bool is_direct() const { return is_direct_; }
  std::ptrdiff_t row_stride() const { return y_.stride(0); }
  T* begin(std::ptrdiff_t row, std::ptrdiff_t column, T* buffer) const noexcept {
    return is_direct_ ? static_cast<T*>(y_.data()) + row * y_.stride(0) + column : buffer;
  }
  void end(std::ptrdiff_t row, std::ptrdiff_t column, std::ptrdiff_t count, const T* buffer) const noexcept {
    if (is_direct_) return;
    const std::ptrdiff_t at = row * y_.stride(0) + column * y_.stride(1);
    for (std::ptrdiff_t c = 0; c < count; ++c) {
      base::store_as(y_.dtype(), y_.data(), at + c * y_.stride(1), buffer[c]);
    }
  }

 private:
  Out<2> y_;
  bool is_direct_;
};

// A vector of parameters as numbers of type T, side by side: where they stand, or widened into scratch memory.
template <class T>
class Parameters {
 public:
  Parameters(const In<1>& x, runtime::ScratchPool& pool) {
    if (!x.wanted()) return;
    if (x.dtype() == dtype_of<T> && (x.stride(0) == 1 || x.extent(0) == 1)) {
      data_ = static_cast<const T*>(x.data());
      return;
    }
    const auto count = static_cast<std::size_t>(x.extent(0));
    copy_.emplace(pool, runtime::Scratch::padded<T>(std::max<std::size_t>(count, 1)));
    T* copy = copy_->take<T>(count);
    for (std::ptrdiff_t i = 0; i < x.extent(0); ++i) copy[i] = base::load_as<T>(x.dtype(), x.data(), i * x.stride(0));
    data_ = copy;
  }
  // Null when not given.
  const T* data() const noexcept { return data_; }

 private:
  std::optional<runtime::Scratch> copy_;
  const T* data_ = nullptr;
};

}  // namespace attn::ops
