// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace attn::io {

// Character properties as Hugging Face's `tokenizers` sees them, whatever the version of ICU at hand. Models were
// trained with its tables, so those are what counts and not the newest ones: general categories are those of Unicode
// 8.0, normalisation is that of Unicode 9.0 (later characters count as unassigned), and lower case is that of Unicode
// 17.0. What was found by asking it about every code point stands in tests/data/tokenizer/README.md.

bool is_whitespace(char32_t c) noexcept;       // the property White_Space
bool is_control(char32_t c) noexcept;          // Cc, Cf or Co, but neither tab, line feed nor carriage return
bool is_nonspacing_mark(char32_t c) noexcept;  // Mn
bool is_punctuation(char32_t c) noexcept;      // P*, and every ASCII character that is no letter, digit or control
bool is_chinese(char32_t c) noexcept;          // the ideographs that BERT sets apart
bool is_combining_mark(char32_t c) noexcept;   // M*, in Unicode 9.0
bool is_word(char32_t c) noexcept;             // \w of Unicode regular expressions, by ICU's own tables

// The lower case of one character by itself: no context, so that a final sigma stays U+03C3. U+0130 is the one
// character with a lower case of two, `i` and U+0307; here it gives `i` alone.
char32_t to_lower(char32_t c) noexcept;

enum class Decomposition { canonical, compatible };

// The longest decomposition of one character (U+FDFA).
constexpr std::size_t kMaxDecomposed = 18;

// Writes the full decomposition of `c`, which is `c` itself where it has none; returns its length.
std::size_t decompose(char32_t c, Decomposition kind, char32_t (&out)[kMaxDecomposed]) noexcept;

// The canonical combining class; 0 for a starter.
unsigned combining_class(char32_t c) noexcept;

// The character that canonically composes two, or 0.
char32_t compose(char32_t first, char32_t second) noexcept;

}  // namespace attn::io
