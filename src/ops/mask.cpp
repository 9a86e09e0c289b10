// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <attn/error.hpp>
#include <attn/tensor.hpp>

#include "base/concat.hpp"
#include "ops/mask_data.hpp"

namespace attn {
namespace ops {

const MaskData& MaskAccess::data(const Mask& mask) {
  static const MaskData everything;
  return mask.data_ ? *mask.data_ : everything;
}

Mask MaskAccess::make(MaskData data) {
  Mask mask;
  mask.data_ = std::make_shared<const MaskData>(std::move(data));
  return mask;
}

namespace {

template <class Int>
Mask lengths_mask(std::span<const Int> lengths) {
  MaskData data;
  data.lengths.emplace(lengths.begin(), lengths.end());
  for (std::size_t b = 0; b < lengths.size(); ++b) {
    if (lengths[b] < 0) {
      throw Error("Mask::lengths", base::concat("lengths[", b, "]"), base::concat(lengths[b], ", expected 0 or more"));
    }
  }
  return MaskAccess::make(std::move(data));
}

Mask pairs_mask(In<4> view, bool keep) {
  MaskData data;
  data.pairs.push_back({view, keep});
  return MaskAccess::make(std::move(data));
}

// A row-major copy of what a view shows. Broadcast dimensions (stride 0) stay so.
template <int R>
In<R> copied(const In<R>& view, std::vector<Tensor>& owned) {
  if (!view.wanted() || view.data() == nullptr || view.rank_found() != R) return view;
  Extents<R> stored = view.extents();
  for (int d = 0; d < R; ++d) {
    if (view.stride(d) == 0) stored[d] = std::min<std::ptrdiff_t>(stored[d], 1);
  }
  const Tensor viewed =
      Tensor::adopt(view.dtype(), const_cast<void*>(view.data()), stored.n, view.strides().n, nullptr);
  owned.push_back(viewed.clone());
  Extents<R> strides = row_major(stored);
  for (int d = 0; d < R; ++d) {
    if (view.stride(d) == 0) strides[d] = 0;
  }
  return In<R>(view.dtype(), std::as_const(owned.back()).data(), view.extents(), strides);
}

}  // namespace
}  // namespace ops

Mask Mask::causal() {
  ops::MaskData data;
  data.causal = true;
  return ops::MaskAccess::make(std::move(data));
}

Mask Mask::window(std::int64_t left, std::int64_t right) {
  if (left < 0) throw Error("Mask::window", "left", base::concat(left, ", expected 0 or more, or Mask::unbounded"));
  if (right < 0) throw Error("Mask::window", "right", base::concat(right, ", expected 0 or more, or Mask::unbounded"));
  ops::MaskData data;
  data.left = left;
  data.right = right;
  return ops::MaskAccess::make(std::move(data));
}

Mask Mask::prefix_lm(std::int64_t n) {
  if (n < 0) throw Error("Mask::prefix_lm", "n", base::concat(n, ", expected 0 or more"));
  ops::MaskData data;
  data.prefix = n;
  return ops::MaskAccess::make(std::move(data));
}

Mask Mask::lengths(std::span<const std::int32_t> lengths) { return ops::lengths_mask(lengths); }
Mask Mask::lengths(std::span<const std::int64_t> lengths) { return ops::lengths_mask(lengths); }
Mask Mask::lengths(std::initializer_list<std::int64_t> lengths) {
  return ops::lengths_mask(std::span<const std::int64_t>(lengths.begin(), lengths.size()));
}

Mask Mask::documents(In<2> ids) {
  ops::MaskData data;
  data.documents.push_back(ids);
  return ops::MaskAccess::make(std::move(data));
}

Mask Mask::keep(In<4> keep) { return ops::pairs_mask(keep, true); }
Mask Mask::drop(In<4> drop) { return ops::pairs_mask(drop, false); }

Mask operator&(const Mask& a, const Mask& b) {
  ops::MaskData data = ops::MaskAccess::data(a);
  const ops::MaskData& other = ops::MaskAccess::data(b);
  data.causal = data.causal || other.causal;
  data.left = std::min(data.left, other.left);
  data.right = std::min(data.right, other.right);
  if (other.prefix) data.prefix = std::min(data.prefix.value_or(*other.prefix), *other.prefix);
  if (data.lengths && other.lengths) {
    if (data.lengths->size() != other.lengths->size()) {
      throw Error("Mask::operator&", "lengths",
                  base::concat(other.lengths->size(), " of them, expected ", data.lengths->size(), " as on the left"));
    }
    for (std::size_t i = 0; i < data.lengths->size(); ++i) {
      (*data.lengths)[i] = std::min((*data.lengths)[i], (*other.lengths)[i]);
    }
  } else if (other.lengths) {
    data.lengths = other.lengths;
  }
  data.documents.insert(data.documents.end(), other.documents.begin(), other.documents.end());
  data.pairs.insert(data.pairs.end(), other.pairs.begin(), other.pairs.end());
  data.owned.insert(data.owned.end(), other.owned.begin(), other.owned.end());
  return ops::MaskAccess::make(std::move(data));
}

Mask Mask::owned() const {
  if (!data_) return *this;
  ops::MaskData data = *data_;
  data.owned.clear();
  for (In<2>& ids : data.documents) ids = ops::copied(ids, data.owned);
  for (ops::MaskData::Pairs& pairs : data.pairs) pairs.view = ops::copied(pairs.view, data.owned);
  return ops::MaskAccess::make(std::move(data));
}

}  // namespace attn
