// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <attn/tensor.hpp>
#include <cstring>
#include <limits>

#include "base/concat.hpp"
#include "base/convert.hpp"

namespace attn {
namespace {

constexpr std::size_t kAlignment = 64;  // a cache line, and the widest vector

std::size_t checked_bytes(DType dtype, std::span<const std::ptrdiff_t> shape) {
  if (dtype == DType::none) throw Error("Tensor", "dtype", "none, expected an element type");
  std::size_t bytes = size_of(dtype);
  bool is_empty = false;
  for (const std::ptrdiff_t n : shape) {
    if (n < 0)
      throw Error("Tensor", "shape",
                  base::concat("extent ", n, " in ", base::shape_text(shape), ", expected 0 or more"));
    is_empty = is_empty || n == 0;
  }
  // A zero counts as one here, so that the strides of an empty tensor do not overflow either.
  for (const std::ptrdiff_t extent : shape) {
    const auto n = static_cast<std::size_t>(std::max<std::ptrdiff_t>(extent, 1));
    if (bytes > static_cast<std::size_t>(std::numeric_limits<std::ptrdiff_t>::max()) / n) {
      throw Error("Tensor", "shape",
                  base::concat(base::shape_text(shape), " of ", name_of(dtype), " is larger than the address space"));
    }
    bytes *= n;
  }
  return is_empty ? 0 : bytes;
}

}  // namespace

struct Tensor::Impl {
  std::shared_ptr<void> owner;
  void* data = nullptr;
  DType dtype = DType::none;
  std::vector<std::ptrdiff_t> shape, strides;

  std::ptrdiff_t size() const {
    std::ptrdiff_t n = 1;
    for (const std::ptrdiff_t e : shape) n *= e;
    return n;
  }
};

namespace {

std::vector<std::ptrdiff_t> row_major_strides(std::span<const std::ptrdiff_t> shape) {
  std::vector<std::ptrdiff_t> strides(shape.size());
  std::ptrdiff_t step = 1;
  for (std::size_t d = shape.size(); d-- > 0;) {
    strides[d] = step;
    step *= std::max<std::ptrdiff_t>(shape[d], 1);
  }
  return strides;
}

}  // namespace

Tensor Tensor::empty(DType dtype, std::span<const std::ptrdiff_t> shape, std::pmr::memory_resource* memory) {
  const std::size_t bytes = checked_bytes(dtype, shape);
  if (memory == nullptr) memory = std::pmr::get_default_resource();
  auto impl = std::make_shared<Impl>();
  impl->dtype = dtype;
  impl->shape.assign(shape.begin(), shape.end());
  impl->strides = row_major_strides(shape);
  // An empty tensor still has an address: a null pointer means a failed allocation to whoever gets it.
  const std::size_t allocated = std::max(bytes, kAlignment);
  impl->data = memory->allocate(allocated, kAlignment);
  impl->owner =
      std::shared_ptr<void>(impl->data, [memory, allocated](void* p) { memory->deallocate(p, allocated, kAlignment); });
  return Tensor(std::move(impl));
}

Tensor Tensor::zeros(DType dtype, std::span<const std::ptrdiff_t> shape, std::pmr::memory_resource* memory) {
  Tensor t = empty(dtype, shape, memory);
  if (t.size() > 0) std::memset(t.data(), 0, static_cast<std::size_t>(t.size()) * size_of(dtype));
  return t;
}

Tensor Tensor::adopt(DType dtype, void* data, std::span<const std::ptrdiff_t> shape,
                     std::span<const std::ptrdiff_t> strides, std::shared_ptr<void> owner) {
  checked_bytes(dtype, shape);
  if (shape.size() != strides.size()) {
    throw Error("Tensor::adopt", "strides",
                base::concat("rank ", strides.size(), ", expected ", shape.size(), " as in the shape"));
  }
  auto impl = std::make_shared<Impl>();
  impl->owner = std::move(owner);
  impl->data = data;
  impl->dtype = dtype;
  impl->shape.assign(shape.begin(), shape.end());
  impl->strides.assign(strides.begin(), strides.end());
  return Tensor(std::move(impl));
}

DType Tensor::dtype() const noexcept { return impl_ ? impl_->dtype : DType::none; }
std::span<const std::ptrdiff_t> Tensor::shape() const noexcept {
  return impl_ ? std::span<const std::ptrdiff_t>(impl_->shape) : std::span<const std::ptrdiff_t>();
}
std::span<const std::ptrdiff_t> Tensor::strides() const noexcept {
  return impl_ ? std::span<const std::ptrdiff_t>(impl_->strides) : std::span<const std::ptrdiff_t>();
}
std::ptrdiff_t Tensor::size() const noexcept { return impl_ ? impl_->size() : 0; }
void* Tensor::data() & noexcept { return impl_ ? impl_->data : nullptr; }
const void* Tensor::data() const& noexcept { return impl_ ? impl_->data : nullptr; }

std::ptrdiff_t Tensor::extent(int d) const {
  const int at = d < 0 ? d + rank() : d;
  if (at < 0 || at >= rank()) {
    throw Error("Tensor::extent", "d", base::concat(d, ", expected a dimension of a tensor of rank ", rank()));
  }
  return shape()[static_cast<std::size_t>(at)];
}

bool Tensor::is_contiguous() const noexcept {
  if (size() == 0) return true;
  std::ptrdiff_t step = 1;
  for (std::size_t d = shape().size(); d-- > 0;) {
    if (shape()[d] != 1 && strides()[d] != step) return false;
    step *= shape()[d];
  }
  return true;
}

void Tensor::check_view(DType dtype, int rank_wanted) const {
  if (dtype != this->dtype()) {
    throw Error("Tensor::view", "dtype",
                base::concat(name_of(dtype), " asked for, the tensor holds ", name_of(this->dtype())));
  }
  if (rank_wanted != rank()) {
    throw Error("Tensor::view", "rank",
                base::concat(rank_wanted, " asked for, the tensor has shape ", base::shape_text(shape())));
  }
}

void* Tensor::contiguous_data(DType dtype) const {
  check_view(dtype, rank());
  if (!is_contiguous())
    throw Error("Tensor::values", "strides", "not row-major, expected contiguous memory; clone() makes it so");
  return impl_ ? impl_->data : nullptr;
}

Tensor Tensor::reshape(std::span<const std::ptrdiff_t> shape) const {
  const std::size_t bytes = checked_bytes(dtype(), shape);
  if (bytes != static_cast<std::size_t>(size()) * size_of(dtype())) {
    throw Error("Tensor::reshape", "shape",
                base::concat(base::shape_text(shape), " does not hold the ", size(), " elements of ",
                             base::shape_text(this->shape())));
  }
  if (!is_contiguous())
    throw Error("Tensor::reshape", "strides", "not row-major, expected contiguous memory; clone() makes it so");
  auto impl = std::make_shared<Impl>(*impl_);
  impl->shape.assign(shape.begin(), shape.end());
  impl->strides = row_major_strides(shape);
  return Tensor(std::move(impl));
}

Tensor Tensor::to(DType dtype) const {
  if (!has_value()) throw Error("Tensor::to", "", "the tensor holds nothing");
  if (dtype != this->dtype() && !(is_floating(dtype) && is_floating(this->dtype()))) {
    throw Error("Tensor::to", "dtype",
                base::concat("no conversion from ", name_of(this->dtype()), " to ", name_of(dtype)));
  }
  Tensor result = empty(dtype, shape());
  const std::ptrdiff_t count = size();
  const std::size_t width = size_of(dtype);
  std::vector<std::ptrdiff_t> index(shape().size(), 0);
  std::ptrdiff_t from = 0;
  for (std::ptrdiff_t at = 0; at < count; ++at) {
    if (dtype == this->dtype()) {
      std::memcpy(static_cast<char*>(result.data()) + at * static_cast<std::ptrdiff_t>(width),
                  static_cast<const char*>(data()) + from * static_cast<std::ptrdiff_t>(width), width);
    } else {
      base::store_as(dtype, result.data(), at, base::load_as<double>(this->dtype(), data(), from));
    }
    for (std::size_t d = shape().size(); d-- > 0;) {  // step the odometer, last dimension fastest
      from += strides()[d];
      if (++index[d] < shape()[d]) break;
      from -= index[d] * strides()[d];
      index[d] = 0;
    }
  }
  return result;
}

}  // namespace attn
