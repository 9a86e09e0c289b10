// SPDX-License-Identifier: Apache-2.0
#include "io/normal_form.hpp"

#include <algorithm>

#include "io/unicode.hpp"

namespace attn::io {
namespace {

// A character of the result, and how it changes the number of characters: 0 replaces one of the source, 1 adds one
// more for the same source, -n replaces one and swallows n more.
struct Item {
  char32_t code;
  unsigned combining;
  std::int64_t change;
};

std::vector<Item> decomposed(const Characters& text, Decomposition kind) {
  std::vector<Item> items;
  items.reserve(text.size() + text.size() / 4);
  std::size_t pending = 0;  // where the run of marks at the end begins, which the next starter closes
  const auto sort_marks = [&items, &pending] {
    if (items.size() - pending > 1)
      std::stable_sort(items.begin() + static_cast<std::ptrdiff_t>(pending), items.end(),
                       [](const Item& a, const Item& b) { return a.combining < b.combining; });
  };
  char32_t parts[kMaxDecomposed];
  for (const Character& c : text) {
    const std::size_t count = decompose(c.code, kind, parts);
    for (std::size_t i = 0; i < count; ++i) {
      const unsigned combining = combining_class(parts[i]);
      if (combining == 0) sort_marks();
      items.push_back({parts[i], combining, i == 0 ? 0 : 1});
      if (combining == 0) pending = items.size();
    }
  }
  sort_marks();
  return items;
}

// Canonical composition: a character joins the last starter unless something between them has the same or a higher
// class.
void recompose(std::vector<Item>& items) {
  std::size_t kept = 0;
  constexpr std::size_t kNone = SIZE_MAX;
  std::size_t starter = kNone;
  for (const Item item : items) {
    const bool adjacent = starter != kNone && starter + 1 == kept;
    const bool open = adjacent || (starter != kNone && items[kept - 1].combining < item.combining);
    const char32_t both = open ? compose(items[starter].code, item.code) : 0;
    if (both != 0) {
      items[starter].code = both;
      items[starter].change += item.change - 1;
      continue;
    }
    if (item.combining == 0) starter = kept;
    items[kept++] = item;
  }
  items.resize(kept);
}

// Gives every item its place: the k-th replaced character has that of the k-th source, an added one that of the source
// before it. After marks have been sorted this is not always the mark that it came from, but it is what `tokenizers`
// does. The sum of 1 - change is the number of sources, and no item is added before one is replaced (a decomposition
// begins with its lowest class), so that every place exists.
Characters placed(const std::vector<Item>& items, const Characters& source) {
  Characters result;
  result.reserve(items.size());
  std::size_t used = 0;
  for (const Item& item : items) {
    const bool added = item.change > 0;
    const Character& from = source[added ? used - 1 : used];
    result.push_back({item.code, from.begin, from.end});
    if (!added) used += static_cast<std::size_t>(1 - item.change);
  }
  return result;
}

}  // namespace

void to_normal_form(Characters& text, NormalForm form) {
  constexpr char32_t kFirstDecomposable = 0xA0;
  if (std::all_of(text.begin(), text.end(), [](const Character& c) { return c.code < kFirstDecomposable; })) return;
  const bool canonical = form == NormalForm::nfd || form == NormalForm::nfc;
  std::vector<Item> items = decomposed(text, canonical ? Decomposition::canonical : Decomposition::compatible);
  if (form == NormalForm::nfc || form == NormalForm::nfkc) recompose(items);
  text = placed(items, text);
}

}  // namespace attn::io
