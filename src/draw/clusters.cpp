// SPDX-License-Identifier: Apache-2.0
#include "draw/clusters.hpp"

#include <unicode/ubrk.h>
#include <unicode/uchar.h>
#include <unicode/utext.h>
#include <unicode/utf8.h>

#include <algorithm>
#include <attn/draw/display_width.hpp>
#include <attn/error.hpp>
#include <cstdint>
#include <memory>

namespace attn::draw {
namespace {

constexpr UChar32 kReplacement = 0xFFFD;
constexpr UChar32 kSoftHyphen = 0xAD;
constexpr UChar32 kEmojiVariant = 0xFE0F;  // asks for the coloured, wide form of the character before it

template <auto Close>
struct Closer {
  template <class T>
  void operator()(T* p) const noexcept {
    Close(p);
  }
};

void check(UErrorCode status) {
  if (U_FAILURE(status)) throw Error("display_width", "ICU", u_errorName(status));
}

void append(std::string& text, UChar32 c) {
  std::uint8_t bytes[U8_MAX_LENGTH];
  std::int32_t size = 0;
  U8_APPEND_UNSAFE(bytes, size, c);
  text.append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
}

std::string safe(std::string_view text) {
  std::string result;
  const auto size = static_cast<std::int32_t>(text.size());
  for (std::int32_t i = 0; i < size;) {
    UChar32 c = 0;
    U8_NEXT(text.data(), i, size, c);
    if (c >= 0 && u_hasBinaryProperty(c, UCHAR_BIDI_CONTROL)) continue;
    const auto kinds = c < 0 ? 0u : U_GET_GC_MASK(c);
    append(result, c < 0 || (kinds & (U_GC_CC_MASK | U_GC_ZL_MASK | U_GC_ZP_MASK)) != 0 ? kReplacement : c);
  }
  return result;
}

std::ptrdiff_t width_of(UChar32 c) {
  if (c == kSoftHyphen) return 1;
  if ((U_GET_GC_MASK(c) & (U_GC_M_MASK | U_GC_CF_MASK)) != 0) return 0;
  const int width = u_getIntPropertyValue(c, UCHAR_EAST_ASIAN_WIDTH);
  return width == U_EA_WIDE || width == U_EA_FULLWIDTH ? 2 : 1;
}

// Emoji that are joined into one picture take the width of one.
std::ptrdiff_t cluster_width(std::string_view text) {
  std::ptrdiff_t width = 0, flags = 0;
  UChar32 before = 0;
  const auto size = static_cast<std::int32_t>(text.size());
  for (std::int32_t i = 0; i < size;) {
    UChar32 c = 0;
    U8_NEXT(text.data(), i, size, c);
    width = std::max(width, width_of(c));
    if (c == kEmojiVariant && u_hasBinaryProperty(before, UCHAR_EMOJI)) width = 2;
    flags += u_hasBinaryProperty(c, UCHAR_REGIONAL_INDICATOR);
    before = c;
  }
  return flags == 2 ? 2 : width;
}

}  // namespace

std::vector<Cluster> clusters_of(std::string_view text) {
  const std::string printable = safe(text);
  UErrorCode status = U_ZERO_ERROR;
  const std::unique_ptr<UText, Closer<utext_close>> source(
      utext_openUTF8(nullptr, printable.data(), static_cast<std::int64_t>(printable.size()), &status));
  check(status);
  const std::unique_ptr<UBreakIterator, Closer<ubrk_close>> breaks(ubrk_open(UBRK_CHARACTER, "", nullptr, 0, &status));
  check(status);
  ubrk_setUText(breaks.get(), source.get(), &status);
  check(status);
  std::vector<Cluster> clusters;
  std::int32_t from = ubrk_first(breaks.get());
  for (std::int32_t to = ubrk_next(breaks.get()); to != UBRK_DONE; to = ubrk_next(breaks.get())) {
    const std::string part = printable.substr(static_cast<std::size_t>(from), static_cast<std::size_t>(to - from));
    clusters.push_back({part, cluster_width(part)});
    from = to;
  }
  return clusters;
}

std::ptrdiff_t width_of(const std::vector<Cluster>& clusters) {
  std::ptrdiff_t width = 0;
  for (const Cluster& cluster : clusters) width += cluster.width;
  return width;
}

std::vector<Cluster> elided(std::vector<Cluster> clusters, std::ptrdiff_t width, std::string_view mark) {
  if (width_of(clusters) <= width) return clusters;
  std::vector<Cluster> kept;
  if (width < 1) return kept;
  // The beginning tells more than the end, so that it gets the odd column.
  std::ptrdiff_t head = width / 2, tail = width - 1 - head;
  std::size_t from = 0, to = clusters.size();
  for (; clusters[from].width <= head; ++from) head -= clusters[from].width;
  for (; clusters[to - 1].width <= tail; --to) tail -= clusters[to - 1].width;
  kept.assign(clusters.begin(), clusters.begin() + static_cast<std::ptrdiff_t>(from));
  kept.push_back({std::string(mark), 1});
  kept.insert(kept.end(), clusters.begin() + static_cast<std::ptrdiff_t>(to), clusters.end());
  return kept;
}

std::ptrdiff_t display_width(std::string_view text) { return width_of(clusters_of(text)); }

std::string elide(std::string_view text, std::ptrdiff_t width) {
  std::string result;
  for (const Cluster& cluster : elided(clusters_of(text), width, "…")) result += cluster.text;
  return result;
}

}  // namespace attn::draw
