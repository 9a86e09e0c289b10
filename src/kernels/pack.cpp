// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/convert.hpp"
#include "kernels/matmul.hpp"

namespace attn::kernels {
namespace {

// Panels of numbers of type To, `width` columns each: convert(w, n) of every W[n][k], read as a From.
template <class From, class To, class Convert>
void pack(const UnpackedWeight& weight, std::ptrdiff_t width, std::ptrdiff_t first, std::ptrdiff_t last, To* panels,
          const Convert& convert) {
  const std::ptrdiff_t depth = weight.extents[1];
  for (std::ptrdiff_t p = first; p < last; ++p) {
    To* panel = panels + p * width * depth;
    const std::ptrdiff_t columns = std::min(width, weight.extents[0] - p * width);
    if (columns < width) std::fill(panel, panel + width * depth, To{});
    for (std::ptrdiff_t n = 0; n < columns; ++n) {
      const std::ptrdiff_t row = (p * width + n) * weight.strides[0];
      for (std::ptrdiff_t k = 0; k < depth; ++k) {
        panel[k * width + n] =
            convert(base::load_as<From>(weight.dtype, weight.data, row + k * weight.strides[1]), p * width + n);
      }
    }
  }
}

// The same for numbers that stay as they are, of a type that needs no conversion. Training packs weights and
// activations in every step, and either way round, so the inner loop runs along what lies side by side in the panel.
template <class T>
void copy_panels(const UnpackedWeight& weight, std::ptrdiff_t first, std::ptrdiff_t last, T* panels) {
  constexpr std::ptrdiff_t kWidth = kPanelColumns<T>;
  const std::ptrdiff_t depth = weight.extents[1], across = weight.strides[0], along = weight.strides[1];
  for (std::ptrdiff_t p = first; p < last; ++p) {
    T* panel = panels + p * kWidth * depth;
    const T* from = static_cast<const T*>(weight.data) + p * kWidth * across;
    const std::ptrdiff_t columns = std::min(kWidth, weight.extents[0] - p * kWidth);
    if (columns < kWidth) std::fill(panel, panel + kWidth * depth, T{});
    for (std::ptrdiff_t k = 0; k < depth; ++k, panel += kWidth, from += along) {
      if (across == 1 && columns == kWidth) {
        std::memcpy(panel, from, kWidth * sizeof(T));
      } else {
        for (std::ptrdiff_t n = 0; n < columns; ++n) panel[n] = from[n * across];
      }
    }
  }
}

// The largest magnitude in row n; infinite or NaN when a number is.
double largest_magnitude(const UnpackedWeight& weight, std::ptrdiff_t n) {
  double largest = 0;
  for (std::ptrdiff_t k = 0; k < weight.extents[1]; ++k) {
    const double x =
        std::abs(base::load_as<double>(weight.dtype, weight.data, n * weight.strides[0] + k * weight.strides[1]));
    if (!(x <= largest)) largest = x;
  }
  return largest;
}

}  // namespace

template <class T>
void pack_panels(const UnpackedWeight& weight, std::ptrdiff_t first, std::ptrdiff_t last, T* panels) noexcept {
  if (weight.dtype == dtype_of<T>) return copy_panels(weight, first, last, panels);
  pack<T>(weight, kPanelColumns<T>, first, last, panels, [](T w, std::ptrdiff_t) { return w; });
}

template void pack_panels<float>(const UnpackedWeight&, std::ptrdiff_t, std::ptrdiff_t, float*) noexcept;
template void pack_panels<double>(const UnpackedWeight&, std::ptrdiff_t, std::ptrdiff_t, double*) noexcept;

void pack_bf16_panels(const UnpackedWeight& weight, std::ptrdiff_t first, std::ptrdiff_t last, bf16* panels) noexcept {
  pack<double>(weight, kPanelColumns<float>, first, last, panels, [](double w, std::ptrdiff_t) { return to_bf16(w); });
}

bool pack_int8_panels(const UnpackedWeight& weight, std::ptrdiff_t first, std::ptrdiff_t last, std::int8_t* panels,
                      float* scales) noexcept {
  constexpr std::ptrdiff_t kWidth = kPanelColumns<float>;
  for (std::ptrdiff_t n = first * kWidth; n < last * kWidth; ++n) {
    const double largest = n < weight.extents[0] ? largest_magnitude(weight, n) : 0;
    if (!(largest <= 1e38)) return false;  // Infinite, NaN, or a f64 that no product in f32 can hold.
    scales[n] = static_cast<float>(largest / 127);
  }
  pack<double>(weight, kWidth, first, last, panels, [&](double w, std::ptrdiff_t n) {
    const double scale = static_cast<double>(scales[n]);
    // A scale that rounded down, or to 0 or a subnormal, must not take the quotient out of range.
    return scale == 0 ? std::int8_t{0} : static_cast<std::int8_t>(std::clamp(std::nearbyint(w / scale), -127.0, 127.0));
  });
  return true;
}

}  // namespace attn::kernels
