// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "io/characters.hpp"

namespace attn::io {

enum class NormalForm { nfd, nfkd, nfc, nfkc };

// Brings a text into a Unicode normalisation form (UAX #15), with the tables of Unicode 9.0. Time and memory are
// linear in the text, but for sorting each run of marks.
void to_normal_form(Characters& text, NormalForm form);

}  // namespace attn::io
