// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/mask.hpp>
#include <attn/tensor.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace attn::ops {

// What a Mask holds: the intersection of all parts that are there. An absent MaskData shows everything.
struct MaskData {
  struct Pairs {
    In<4> view;
    bool keep = true;  // false: true elements hide
  };

  bool causal = false;
  std::optional<std::int64_t> prefix;
  std::int64_t left = Mask::unbounded, right = Mask::unbounded;
  std::optional<std::vector<std::int64_t>> lengths;
  std::vector<In<2>> documents;
  std::vector<Pairs> pairs;
  std::vector<Tensor> owned;  // memory of what owned() has copied

  bool has_window() const { return left != Mask::unbounded || right != Mask::unbounded; }
  // Whether the query's position among the keys matters.
  bool is_positional() const { return causal || prefix || has_window() || !documents.empty(); }
};

struct MaskAccess {
  // Never null.
  static const MaskData& data(const Mask& mask);
  static Mask make(MaskData data);
};

}  // namespace attn::ops
