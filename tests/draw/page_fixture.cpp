// SPDX-License-Identifier: Apache-2.0
// Writes the pages that page_browser_test.py opens: page_fixture FOLDER. The values follow a formula that the test
// knows too: weight (i, j) of panel p is a softmax over j of 3 * cos(0.7 * (i + 1) * (p + 1) + 1.3 * j).
#include <attn/draw/page.hpp>
#include <cmath>
#include <fstream>
#include <iostream>
#include <limits>
#include <string>
#include <vector>

namespace attn {
namespace {

using Labels = std::vector<std::string>;

Tensor weights(int rows, int columns, int panel) {
  Tensor w = Tensor::empty(DType::f32, rows, columns);
  const auto view = w.view<float, 2>();
  for (int i = 0; i < rows; ++i) {
    double sum = 0;
    const auto raw = [&](int j) { return std::exp(3 * std::cos(0.7 * (i + 1) * (panel + 1) + 1.3 * j)); };
    for (int j = 0; j < columns; ++j) sum += raw(j);
    for (int j = 0; j < columns; ++j) view(i, j) = static_cast<float>(raw(j) / sum);
  }
  return w;
}

draw::PageOptions attention_words() {
  draw::PageOptions options;
  options.words = {.row = "query",
                   .rows = "queries",
                   .column = "key",
                   .columns = "keys",
                   .group = "layer",
                   .item = "head",
                   .value = "weight",
                   .row_shows = "where {} looks",
                   .column_shows = "who looks at {}"};
  return options;
}

void write(const std::string& path, const std::string& title, const Labels& rows, const Labels& columns, int layers,
           int heads) {
  std::vector<Tensor> held;
  draw::PageInput input{.title = title, .subtitle = "a fixture", .row_labels = rows, .column_labels = columns};
  for (int l = 0; l < layers; ++l) {
    draw::PageGroup& group = input.groups.emplace_back();
    group.name = std::to_string(l);
    for (int h = 0; h < heads; ++h) {
      held.push_back(weights(static_cast<int>(rows.size()), static_cast<int>(columns.size()), l * heads + h));
      group.items.push_back({.name = std::to_string(h), .values = held.back()});
    }
  }
  std::ofstream(path, std::ios::binary) << draw::make_page(input, attention_words());
}

// Values that are no numbers, under the words that a page has by default.
void write_odd(const std::string& path) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity(), kNan = std::numeric_limits<float>::quiet_NaN();
  const Tensor values = Tensor::of<float>({-kInfinity, 0, 2.5f, kNan, -1.5f, kInfinity}, 2, 3);
  draw::PageInput input{.title = "Odd", .row_labels = {"a", "b"}, .column_labels = {"x", "y", "z"}};
  input.groups = {{.name = "0", .items = {{.name = "0", .values = values}}}};
  std::ofstream(path, std::ios::binary) << draw::make_page(input);
}

Labels numbered(int n) {
  Labels labels;
  for (int i = 0; i < n; ++i) labels.push_back("tok" + std::to_string(i));
  return labels;
}

void write_all(const std::string& folder) {
  using namespace std::string_literals;
  const Labels saw = {"[CLS]", "i", "saw", "a", "saw", "[SEP]"};
  write(folder + "/saw.html", "I saw a saw", saw, saw, 3, 4);
  const Labels nasty = {"</script><script>window.hacked=1</script>",
                        "&amp;",
                        "\"quoted'",
                        "a\u2028b",
                        "nul\0!"s,
                        "",
                        "小明",
                        "👩‍🚀",
                        "שלום",
                        "<!--<script>",
                        "\\u003c",
                        "bad\xff",
                        " space ",
                        "\u202eback",
                        "{{data}}"};
  write(folder + "/nasty.html", "</title><script>window.hacked=1</script>&", nasty, nasty, 2, 2);
  write(folder + "/cross.html", "Cross", {"the", "cat", "sat"}, {"die", "Katze", "saß", "."}, 1, 2);
  write_odd(folder + "/odd.html");
  write(folder + "/chinese.html", "小明 在 北京 大学 学习 人工智能",
        {"[CLS]", "小明", "在", "北京", "大学", "学习", "人工智能", "😀", "[SEP]"},
        {"[CLS]", "小明", "在", "北京", "大学", "学习", "人工智能", "😀", "[SEP]"}, 6, 12);
  write(folder + "/long.html", "64 tokens", numbered(64), numbered(64), 6, 12);
  write(folder + "/large.html", "9.4 million values", numbered(256), numbered(256), 12, 12);
}

}  // namespace
}  // namespace attn

int main(int count, char** arguments) {
  if (count < 2) return 2;
  try {
    attn::write_all(arguments[1]);
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
