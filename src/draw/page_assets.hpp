// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace attn::draw {

// The files of draw/page/, which the build turns into the bytes of a source file (page/embed.cmake).
extern const std::string_view kPageHtml;    // the page, with {{name}} where something is put in
extern const std::string_view kPageStyle;   // CSS
extern const std::string_view kPageScript;  // JavaScript, all files in order

}  // namespace attn::draw
