// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/convert.hpp"
#include "kernels/matmul.hpp"

namespace attn::kernels {

template <class T>
void pack_panels(DType dtype, const void* w, const Extents<2>& extents, const Extents<2>& strides,
                 std::ptrdiff_t first_panel, std::ptrdiff_t last_panel, T* panels) noexcept {
  constexpr std::ptrdiff_t kColumns = kPanelColumns<T>;
  const std::ptrdiff_t depth = extents[1];
  for (std::ptrdiff_t p = first_panel; p < last_panel; ++p) {
    T* panel = panels + p * kColumns * depth;
    const std::ptrdiff_t columns = std::min(kColumns, extents[0] - p * kColumns);
    if (columns < kColumns) std::fill(panel, panel + kColumns * depth, T{0});
    for (std::ptrdiff_t n = 0; n < columns; ++n) {
      const std::ptrdiff_t row = (p * kColumns + n) * strides[0];
      for (std::ptrdiff_t k = 0; k < depth; ++k) {
        panel[k * kColumns + n] = base::load_as<T>(dtype, w, row + k * strides[1]);
      }
    }
  }
}

template void pack_panels<float>(DType, const void*, const Extents<2>&, const Extents<2>&, std::ptrdiff_t,
                                 std::ptrdiff_t, float*) noexcept;
template void pack_panels<double>(DType, const void*, const Extents<2>&, const Extents<2>&, std::ptrdiff_t,
                                  std::ptrdiff_t, double*) noexcept;

}  // namespace attn::kernels
