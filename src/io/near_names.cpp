// SPDX-License-Identifier: Apache-2.0
#include "io/near_names.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "io/json.hpp"

namespace attn::io {
namespace {

constexpr std::size_t kShown = 3;
constexpr std::size_t kMaxLength = 200;  // the distance costs length squared, and a file's names can be of any length

// Letters to insert, delete or replace (Levenshtein distance), one row of the table at a time.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, diagonal + 1, row[j] + 1});
    }
  }
  return row.back();
}

bool is_dotted_suffix(std::string_view suffix, std::string_view name) {
  return name.size() > suffix.size() && name.ends_with(suffix) && name[name.size() - suffix.size() - 1] == '.';
}

}  // namespace

std::string near_names(std::string_view wanted, std::span<const std::string> names) {
  if (wanted.empty() || wanted.size() > kMaxLength) return "";
  const std::size_t limit = std::max<std::size_t>(1, wanted.size() / 6);
  std::vector<std::pair<std::size_t, std::string_view>> found;
  for (const std::string& name : names) {
    if (is_dotted_suffix(wanted, name) || is_dotted_suffix(name, wanted)) {
      found.emplace_back(0, name);
    } else if (name.size() <= wanted.size() + limit && wanted.size() <= name.size() + limit) {
      const std::size_t distance = edit_distance(wanted, name);
      if (distance <= limit) found.emplace_back(distance, name);
    }
  }
  std::sort(found.begin(), found.end());
  if (found.size() > kShown) found.resize(kShown);
  std::string text;
  for (const auto& item : found) text += (text.empty() ? "; did you mean " : " or ") + quote(item.second);
  return text.empty() ? text : text + "?";
}

}  // namespace attn::io
