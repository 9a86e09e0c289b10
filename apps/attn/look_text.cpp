// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <attn/draw/terminal.hpp>
#include <attn/inspect/patterns.hpp>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string_view>

#include "joined.hpp"
#include "look.hpp"

namespace attn::app {
namespace {

draw::TerminalColours terminal_colours() {
  const char* no_colour = std::getenv("NO_COLOR");
  if (isatty(STDOUT_FILENO) == 0 || (no_colour != nullptr && *no_colour != '\0')) return draw::TerminalColours::none;
  const char* depth = std::getenv("COLORTERM");
  const bool is_full =
      depth != nullptr && (std::string_view(depth) == "truecolor" || std::string_view(depth) == "24bit");
  return is_full ? draw::TerminalColours::full : draw::TerminalColours::palette;
}

std::ptrdiff_t terminal_width() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 40) return size.ws_col;
  return 100;
}

// The head that tells most at a glance: of those that look at a neighbour or themselves, the most decided one.
const inspect::HeadPattern& telling_head(const std::vector<inspect::HeadPattern>& patterns) {
  using inspect::Target;
  const auto decided = [](const inspect::HeadPattern& p) {
    return std::max({p.share_of(Target::previous), p.share_of(Target::next), p.share_of(Target::self)});
  };
  return *std::max_element(patterns.begin(), patterns.end(),
                           [&](const auto& a, const auto& b) { return decided(a) < decided(b); });
}

// One head as a heat map; of a long text its beginning, since nobody reads hundreds of rows.
void print_heat_map(const LookCommand& command, const inspect::Record& record, const inspect::HeadPattern& head) {
  constexpr std::size_t kMostTokens = 40;
  const auto place = [](const std::vector<std::ptrdiff_t>& all, std::ptrdiff_t wanted) {
    return std::find(all.begin(), all.end(), wanted) - all.begin();
  };
  std::vector<std::string> tokens = record.encoding.tokens;
  std::string title = fmt::format("layer {} head {}: rows are queries, columns are keys", head.layer, head.head);
  if (tokens.size() > kMostTokens) {
    title += fmt::format(", the first {} of {}", kMostTokens, tokens.size());
    tokens.resize(kMostTokens);
  }
  const auto shown = static_cast<std::ptrdiff_t>(tokens.size());
  const Tensor& weights = record.weights[static_cast<std::size_t>(place(record.layers, head.layer))];
  const In<2> values =
      weights.view<float, 3>().select(0, place(record.heads, head.head)).slice(0, 0, shown).slice(1, 0, shown);
  fmt::print("{}\n", draw::terminal_heat_map(values, {.row_labels = tokens,
                                                      .column_labels = tokens,
                                                      .title = title,
                                                      .colormap = draw::Colormap::named(command.colormap),
                                                      .colours = terminal_colours(),
                                                      .max_width = terminal_width()}));
}

}  // namespace

void print_look(const LookCommand& command, const std::string& model_name, const inspect::Record& record) {
  fmt::print("{}: {} of {}\n", printable(model_name), counted(record.config.num_hidden_layers, "layer"),
             counted(record.config.num_attention_heads, "head"));
  fmt::print("{}: {}\n\n", counted(static_cast<std::ptrdiff_t>(record.encoding.tokens.size()), "token"),
             printable(joined(record.encoding.tokens, " ")));
  const std::vector<inspect::HeadPattern> patterns = inspect::patterns(record);
  if (patterns.empty()) return;
  print_heat_map(command, record, telling_head(patterns));
  fmt::print("layer head  looks most at    share\n");
  for (const inspect::HeadPattern& p : patterns) {
    fmt::print("{:5} {:4}  {:<13} {:5.1f} %\n", p.layer, p.head, inspect::name_of(p.most), 100 * p.share_of(p.most));
  }
}

nlohmann::json look_json(const inspect::Record& record, const LookFiles& files, double seconds) {
  nlohmann::json json{{"tokens", record.encoding.tokens},
                      {"ids", record.encoding.ids},
                      {"cut", record.encoding.cut},
                      {"replaced_invalid", record.encoding.replaced_invalid_utf8},
                      {"seconds", seconds}};
  json["files"] = nlohmann::json::array();
  for (const std::filesystem::path& file : files.paths) json["files"].push_back(file.string());
  json["heads"] = nlohmann::json::array();
  for (const inspect::HeadPattern& p : inspect::patterns(record)) {
    nlohmann::json share;
    for (std::size_t t = 0; t < inspect::kTargets; ++t) {
      share[std::string(inspect::name_of(static_cast<inspect::Target>(t)))] = p.share[t];
    }
    json["heads"].push_back(
        {{"layer", p.layer}, {"head", p.head}, {"most", std::string(inspect::name_of(p.most))}, {"share", share}});
  }
  return json;
}

}  // namespace attn::app
