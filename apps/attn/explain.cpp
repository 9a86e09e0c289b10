// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <attn/error.hpp>
#include <attn/inspect/explain.hpp>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "command.hpp"
#include "example_file.hpp"
#include "joined.hpp"

namespace attn::app {
namespace {

struct ExplainCommand {
  CommonOptions common;
  std::filesystem::path file;
};

// Six decimals at most, and none that say nothing: 2, 0.5, 1.414214, -inf.
std::string number_text(double x) {
  if (std::isnan(x)) return "nan";  // whose sign says nothing
  if (std::isinf(x)) return x < 0 ? "-inf" : "inf";
  if (std::abs(x) >= 1e15) return fmt::format("{:.7g}", x);  // 1e+308, not three hundred digits
  std::string text = fmt::format("{:.6f}", x);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

void print_matrix(const Tensor& matrix) {
  const View<const double, 2> values = matrix.view<double, 2>();
  std::size_t width = 1;
  for (std::ptrdiff_t r = 0; r < values.extent(0); ++r) {
    for (std::ptrdiff_t c = 0; c < values.extent(1); ++c) width = std::max(width, number_text(values(r, c)).size());
  }
  for (std::ptrdiff_t r = 0; r < values.extent(0); ++r) {
    fmt::print("   ");
    for (std::ptrdiff_t c = 0; c < values.extent(1); ++c) fmt::print(" {:>{}}", number_text(values(r, c)), width);
    fmt::print("\n");
  }
}

nlohmann::json rows_of(const Tensor& matrix) {
  const View<const double, 2> values = matrix.view<double, 2>();
  nlohmann::json rows = nlohmann::json::array();
  for (std::ptrdiff_t r = 0; r < values.extent(0); ++r) {
    nlohmann::json row = nlohmann::json::array();
    for (std::ptrdiff_t c = 0; c < values.extent(1); ++c) {
      const double x = values(r, c);
      row.push_back(std::isfinite(x) ? nlohmann::json(x) : nlohmann::json(number_text(x)));
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

inspect::Explanation explain_file(const std::filesystem::path& file, Context& context) {
  const ExampleFile input = read_example(file);
  try {
    return inspect::explain(input.example, input.options, context);
  } catch (const Error& e) {
    // The file's name in place of the function's.
    throw Error(file.string(), "", std::string_view(e.what()).substr(e.where().size() + 2));
  }
}

void explain(const ExplainCommand& command) {
  Context context(context_options(command.common));
  const inspect::Explanation result = command.file.empty() ? inspect::explain(inspect::worked_example(), {}, context)
                                                           : explain_file(command.file, context);
  if (command.common.json) {
    nlohmann::json json{{"tokens", result.tokens}, {"note", result.note}, {"steps", nlohmann::json::array()}};
    for (const inspect::Step& step : result.steps) {
      json["steps"].push_back({{"name", step.name}, {"formula", step.formula}, {"value", rows_of(step.value)}});
    }
    return print_json(json);
  }
  if (!result.tokens.empty()) fmt::print("tokens: {}\n\n", printable(joined(result.tokens, ", ")));
  for (const inspect::Step& step : result.steps) {
    fmt::print("{}{}{}\n", step.name, step.formula.empty() ? "" : ": ", step.formula);
    print_matrix(step.value);
    fmt::print("\n");
  }
  if (!result.note.empty() && !command.common.quiet) fmt::print("{}\n", printable(result.note));
}

}  // namespace

void add_explain(CLI::App& app) {
  auto command = std::make_shared<ExplainCommand>();
  CLI::App* verb = app.add_subcommand("explain", "Every step of attention with its numbers");
  verb->add_option("example", command->file,
                   "A JSON object with matrices (lists of rows) x, w_q, w_k, w_v or q, k, v, and perhaps\n"
                   "causal, align, window, scale, softcap, mask (0 hides), bias, tokens, note; without a\n"
                   "file, an example that can be checked by hand")
      ->check(not_empty())
      ->option_text("FILE");
  add_common_options(*verb, command->common, "attn explain examples/window.json", "from the project's folder");
  verb->callback([command] { explain(*command); });
}

}  // namespace attn::app
