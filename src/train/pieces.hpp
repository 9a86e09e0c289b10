// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace attn::train {

using Merge = std::pair<std::string, std::string>;

// The UTF-8 characters of a text; ill-formed bytes are read as U+FFFD.
std::vector<std::string> characters_of(std::string_view text);

// The words that pieces never reach over: each begins at a space, which it holds, or where letters and digits meet
// other characters. A space is put before the text, so that its first word looks like the others.
std::vector<std::string> words_of(std::string_view text);

// The merges that make the most frequent neighbours one piece, one after the other, `count` at most, and none of a pair
// that occurs once.
std::vector<Merge> learn_merges(const std::map<std::string, std::int64_t>& word_counts, std::ptrdiff_t count);

// A word as pieces: of the merges that apply, the one learned first goes first.
std::vector<std::string> merged(std::string_view word, const std::map<Merge, std::size_t>& ranks);

}  // namespace attn::train
