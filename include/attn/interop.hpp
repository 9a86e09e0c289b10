// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/view.hpp>
#include <concepts>
#include <type_traits>

namespace attn {

// std::mdspan, Kokkos::mdspan and lookalikes, recognised by shape so that none of them is included.
template <class M>
concept MdspanLike = requires(const M& m) {
  m.data_handle();
  { m.extent(0) } -> std::integral;
  { m.stride(0) } -> std::integral;
  { M::rank() } -> std::integral;
};
template <MdspanLike M>
constexpr auto as_view(const M& m) {
  constexpr int kRank = static_cast<int>(M::rank());
  Extents<kRank> e, s;
  for (int d = 0; d < kRank; ++d) {
    e[d] = static_cast<std::ptrdiff_t>(m.extent(static_cast<unsigned>(d)));
    s[d] = static_cast<std::ptrdiff_t>(m.stride(static_cast<unsigned>(d)));
  }
  return View<std::remove_reference_t<decltype(*m.data_handle())>, kRank>(m.data_handle(), e, s);
}

// Dense Eigen objects as (rows, cols). Lvalues, or rvalues that own nothing (Map, Ref, Block of a Map): a view of an
// owning temporary would dangle, so it does not compile.
template <class M>
concept EigenLike = requires(M& m) {
  m.data();
  { m.rows() } -> std::integral;
  { m.cols() } -> std::integral;
  { m.rowStride() } -> std::integral;
  { m.colStride() } -> std::integral;
};
template <class M>
concept OwnsMemory = requires(std::remove_cvref_t<M>& m) {
  m.resize(1, 1);
  m.conservativeResize(1, 1);
};
template <class M>
requires EigenLike<std::remove_reference_t<M>> &&
    (std::is_lvalue_reference_v<M> || !OwnsMemory<M>)constexpr auto as_view(M&& m) {
  return View<std::remove_reference_t<decltype(*m.data())>, 2>(m.data(), {m.rows(), m.cols()},
                                                               {m.rowStride(), m.colStride()});
}

}  // namespace attn
