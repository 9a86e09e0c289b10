// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <attn/context.hpp>
#include <cstddef>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace attn::app {

// What every verb takes.
struct CommonOptions {
  int threads = 0;
  bool json = false, quiet = false, strict = false;
};

// Adds them to a verb, and the text that --help ends with: an example that runs, from `where` if not from anywhere.
void add_common_options(CLI::App& verb, CommonOptions& options, const std::string& example,
                        const std::string& where = {});

// Writes on standard error. What cannot be written there is lost, since there is nowhere left to say so.
void say(const std::string& text);

// Something that a user should know but that need not stop the work: a line on standard error, or with --strict an
// error. Throws Error when strict.
void notice(const CommonOptions& options, std::string_view where, std::string_view what);

ContextOptions context_options(const CommonOptions& options);

// Whether something may be drawn over again on standard error: it is a terminal, and nobody asked for silence.
bool shows_progress(const CommonOptions& options);

// Text out of a file, safe to print: without what could move the cursor or recolour the screen, on one line.
std::string printable(std::string_view text);

// "1 text", "2 texts".
std::string counted(std::ptrdiff_t count, std::string_view thing);

// Valid JSON whatever bytes the texts in it hold. Indented, or one line for files of many objects.
enum class JsonLayout { indented, line };
void print_json(const nlohmann::json& json, JsonLayout layout = JsonLayout::indented);

// For options that are paths, or `what`: refuses an empty one, which would be looked for in odd places or mean all.
CLI::Validator not_empty(const std::string& what = "a path");

// Numbers such as "0-2,5" in the order given, for options that choose layers or heads; empty text: none. Throws Error
// naming `option`.
std::vector<std::ptrdiff_t> parse_ranges(std::string_view option, const std::string& text);

// One function a verb, called by main: adds the verb with its options, and runs it when it is the one asked for.
void add_look(CLI::App& app);
void add_embed(CLI::App& app);
void add_run(CLI::App& app);
void add_explain(CLI::App& app);
void add_info(CLI::App& app);
void add_train(CLI::App& app);
void add_eval(CLI::App& app);
void add_predict(CLI::App& app);
void add_export(CLI::App& app);
void add_bench(CLI::App& app);

}  // namespace attn::app
