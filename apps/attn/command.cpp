// SPDX-License-Identifier: Apache-2.0
#include "command.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <attn/draw/display_width.hpp>
#include <attn/error.hpp>
#include <charconv>
#include <cstdio>
#include <limits>
#include <nlohmann/json.hpp>

namespace attn::app {

void add_common_options(CLI::App& verb, CommonOptions& options, const std::string& example, const std::string& where) {
  verb.add_option("--threads", options.threads, "Threads to compute with; 0 is one for each processor")
      ->check(CLI::Range(0, 4096))
      ->option_text("N");
  verb.add_flag("--json", options.json, "Print the result as JSON");
  verb.add_flag("--quiet", options.quiet, "No notices, progress or report; errors and --json are still printed");
  verb.add_flag("--strict", options.strict, "Treat notices as errors");
  verb.footer(fmt::format("Example{}{}:\n  {}", where.empty() ? "" : ", ", where, example));
}

void say(const std::string& text) { std::fputs(text.c_str(), stderr); }

void notice(const CommonOptions& options, std::string_view where, std::string_view what) {
  if (options.strict) throw Error(where, "", what);
  if (!options.quiet) say(fmt::format("attn: {}: {}\n", where, what));
}

std::string printable(std::string_view text) { return draw::elide(text, std::numeric_limits<std::ptrdiff_t>::max()); }

std::string counted(std::ptrdiff_t count, std::string_view thing) {
  return fmt::format("{} {}{}", count, thing, count == 1 ? "" : "s");
}

void print_json(const nlohmann::json& json, JsonLayout layout) {
  const int indent = layout == JsonLayout::line ? -1 : 2;
  fmt::print("{}\n", json.dump(indent, ' ', false, nlohmann::json::error_handler_t::replace));
}

CLI::Validator not_empty(const std::string& what) {
  const auto check = [what](const std::string& text) { return text.empty() ? "empty, expected " + what : ""; };
  return CLI::Validator(check, "");
}

bool shows_progress(const CommonOptions& options) { return !options.quiet && isatty(STDERR_FILENO) != 0; }

std::vector<std::ptrdiff_t> parse_ranges(std::string_view option, const std::string& text) {
  // Far above any model, and small enough that a range of them is no burden.
  constexpr std::ptrdiff_t kLargest = 9999;
  std::vector<std::ptrdiff_t> numbers;
  const char* at = text.data();
  const char* const end = at + text.size();
  const auto refuse = [&] { throw Error(option, "", fmt::format("\"{}\", expected numbers such as 0-2,5", text)); };
  const auto number = [&] {
    std::ptrdiff_t n = -1;
    const auto [after, failure] = std::from_chars(at, end, n);
    if (failure != std::errc() || n < 0 || n > kLargest) refuse();
    at = after;
    return n;
  };
  while (at != end) {
    const std::ptrdiff_t first = number();
    std::ptrdiff_t last = first;
    if (at != end && *at == '-') {
      ++at;
      last = number();
    }
    if (last < first || (at != end && *at != ',')) refuse();
    for (std::ptrdiff_t n = first; n <= last; ++n) numbers.push_back(n);
    if (at != end && ++at == end) refuse();
  }
  return numbers;
}

ContextOptions context_options(const CommonOptions& options) { return {.threads = options.threads}; }

}  // namespace attn::app
