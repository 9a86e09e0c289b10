// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "io/characters.hpp"

namespace attn::io {

enum class NormalForm { nfd, nfkd, nfc, nfkc };

// Brings a text into a Unicode normalisation form (UAX #15), with the tables of Unicode 9.0. `origin` is the place of
// what would stand before the first character. Time and memory are linear in the text (marks are sorted run by run).
void to_normal_form(Characters& text, std::uint32_t origin, NormalForm form);

}  // namespace attn::io
