// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/any_view.hpp>

namespace attn {

// What attention reads keys and values from: two views, k (batch, kv heads, keys, d_qk) and v (batch, kv heads, keys,
// d_v). Viewed, not owned.
class KeyValue {
 public:
  KeyValue(In<4> k, In<4> v) : k_(k), v_(v) {}
  const In<4>& k() const { return k_; }
  const In<4>& v() const { return v_; }

 private:
  In<4> k_, v_;
};

}  // namespace attn
