// SPDX-License-Identifier: Apache-2.0
#include "io/unicode.hpp"

#include <unicode/uchar.h>
#include <unicode/unorm2.h>
#include <unicode/utf16.h>

#include <cstdint>

namespace attn::io {
namespace {

constexpr unsigned kCategoryVersion = 8, kNormalisationVersion = 9;

bool assigned(char32_t c, unsigned version) noexcept {
  UVersionInfo age;
  u_charAge(static_cast<UChar32>(c), age);
  return age[0] != 0 && age[0] <= version;
}

// Characters whose category a later version of Unicode, up to 18, has changed (as far as anything here asks for it).
int category_exception(char32_t c) noexcept {
  switch (c) {
    case 0x1885:
    case 0x1886:
      return U_OTHER_LETTER;
    case 0xA9BD:
      return U_COMBINING_SPACING_MARK;
    case 0x1734:
    case 0x1171E:
      return U_NON_SPACING_MARK;
    case 0x166D:
    case 0x111C9:
      return U_OTHER_PUNCTUATION;
    default:
      return -1;
  }
}

// One bit: U_MASK of the general category in Unicode 8.0.
std::uint32_t category(char32_t c) noexcept {
  const int exception = category_exception(c);
  if (exception >= 0) return U_MASK(exception);
  return assigned(c, kCategoryVersion) ? U_GET_GC_MASK(static_cast<UChar32>(c)) : U_GC_CN_MASK;
}

bool between(char32_t c, char32_t low, char32_t high) noexcept { return low <= c && c <= high; }

// The normalizers are ICU's own singletons. Where its data cannot be loaded nothing decomposes or composes.
const UNormalizer2* canonical() noexcept {
  static const UNormalizer2* const instance = [] {
    UErrorCode error = U_ZERO_ERROR;
    return unorm2_getNFCInstance(&error);
  }();
  return instance;
}

const UNormalizer2* compatible() noexcept {
  static const UNormalizer2* const instance = [] {
    UErrorCode error = U_ZERO_ERROR;
    return unorm2_getNFKCInstance(&error);
  }();
  return instance;
}

}  // namespace

bool is_whitespace(char32_t c) noexcept {
  if (c < 0x80) return c == ' ' || between(c, '\t', '\r');
  return c == 0x85 || c == 0xA0 || c == 0x1680 || between(c, 0x2000, 0x200A) || c == 0x2028 || c == 0x2029 ||
         c == 0x202F || c == 0x205F || c == 0x3000;
}

bool is_control(char32_t c) noexcept {
  if (c < 0x80) return (c < 0x20 || c == 0x7F) && c != '\t' && c != '\n' && c != '\r';
  return (category(c) & (U_GC_CC_MASK | U_GC_CF_MASK | U_GC_CO_MASK)) != 0;
}

bool is_nonspacing_mark(char32_t c) noexcept { return c >= 0x300 && (category(c) & U_GC_MN_MASK) != 0; }

bool is_punctuation(char32_t c) noexcept {
  if (c < 0x80) return between(c, '!', '/') || between(c, ':', '@') || between(c, '[', '`') || between(c, '{', '~');
  return (category(c) & U_GC_P_MASK) != 0;
}

bool is_chinese(char32_t c) noexcept {
  if (c < 0x3400) return false;
  return between(c, 0x3400, 0x4DBF) || between(c, 0x4E00, 0x9FFF) || between(c, 0xF900, 0xFAFF) ||
         between(c, 0x20000, 0x2A6DF) || between(c, 0x2A700, 0x2B73F) || between(c, 0x2B740, 0x2B81F) ||
         between(c, 0x2B920, 0x2CEAF) || between(c, 0x2F800, 0x2FA1F);
}

bool is_combining_mark(char32_t c) noexcept {
  if (c < 0x300) return false;
  if (c == 0x1CF2 || c == 0x1CF3) return true;  // letters since version 12
  if (c == 0x111C9) return false;
  return assigned(c, kNormalisationVersion) && (U_GET_GC_MASK(static_cast<UChar32>(c)) & U_GC_M_MASK) != 0;
}

bool is_word(char32_t c) noexcept {
  if (c < 0x80) return between(c, '0', '9') || between(c, 'A', 'Z') || between(c, 'a', 'z') || c == '_';
  const auto point = static_cast<UChar32>(c);
  return u_hasBinaryProperty(point, UCHAR_ALPHABETIC) || u_hasBinaryProperty(point, UCHAR_JOIN_CONTROL) ||
         (U_GET_GC_MASK(point) & (U_GC_M_MASK | U_GC_ND_MASK | U_GC_PC_MASK)) != 0;
}

char32_t to_lower(char32_t c) noexcept {
  if (c < 0x80) return between(c, 'A', 'Z') ? c + 0x20 : c;
  // Pairs of Unicode 16 and 17, which older ICU does not know.
  if (between(c, 0x10D50, 0x10D65)) return c + 0x20;
  if (between(c, 0x16EA0, 0x16EB8)) return c + 0x1B;
  switch (c) {
    case 0xA7CB:
      return 0x264;
    case 0xA7DC:
      return 0x19B;
    case 0x1C89:
    case 0xA7CC:
    case 0xA7CE:
    case 0xA7D2:
    case 0xA7D4:
    case 0xA7DA:
      return c + 1;
    default:
      return static_cast<char32_t>(u_tolower(static_cast<UChar32>(c)));
  }
}

std::size_t decompose(char32_t c, Decomposition kind, char32_t (&out)[kMaxDecomposed]) noexcept {
  out[0] = c;
  if (c < 0xA0) return 1;
  UChar units[2 * kMaxDecomposed];
  UErrorCode error = U_ZERO_ERROR;
  const UNormalizer2* tables = kind == Decomposition::canonical ? canonical() : compatible();
  const std::int32_t length =
      unorm2_getDecomposition(tables, static_cast<UChar32>(c), units, 2 * kMaxDecomposed, &error);
  if (U_FAILURE(error) || length <= 0 || !assigned(c, kNormalisationVersion)) return 1;
  std::size_t count = 0;
  for (std::int32_t i = 0; i < length && count < kMaxDecomposed;) {
    UChar32 code;
    U16_NEXT(units, i, length, code);
    out[count++] = static_cast<char32_t>(code);
  }
  return count;
}

unsigned combining_class(char32_t c) noexcept {
  if (c < 0x300) return 0;
  const unsigned found = u_getCombiningClass(static_cast<UChar32>(c));
  return found != 0 && assigned(c, kNormalisationVersion) ? found : 0;
}

char32_t compose(char32_t first, char32_t second) noexcept {
  const UChar32 both = unorm2_composePair(canonical(), static_cast<UChar32>(first), static_cast<UChar32>(second));
  return both > 0 && assigned(static_cast<char32_t>(both), kNormalisationVersion) ? static_cast<char32_t>(both) : 0;
}

}  // namespace attn::io
