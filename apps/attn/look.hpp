// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/inspect/record.hpp>
#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "command.hpp"

namespace attn::app {

struct LookCommand {
  CommonOptions common;
  std::filesystem::path model, file, folder = "out";
  std::string text, pair, layers, heads, colormap = "blues", formats = "html,png,svg";
  bool has_text = false, has_pair = false;
};

// One text of a call: how its results are called, "" or "-3" for line 3 of a file, and how messages call it.
struct LookText {
  std::string text, suffix, where;
};

// Pictures and page of a record, ready to be written.
struct LookFiles {
  std::vector<std::filesystem::path> paths = {};
  std::vector<std::string> bytes = {};       // one a path
  std::vector<std::string> unreadable = {};  // tokens for which no installed font has every glyph
};
LookFiles draw_look(const LookCommand& command, const std::string& model_name, const LookText& text,
                    const inspect::Record& record);
// Throws Error for formats that mean nothing, and where the results of these texts cannot be written.
void check_look_output(const LookCommand& command, const std::vector<LookText>& texts);
// All of them or none, after `tell` has told of them; the folder is made, and taken away again if nothing could be
// written into it.
void write_look(const std::filesystem::path& folder, const LookFiles& files, const std::function<void()>& tell);

// What is printed: tokens, one head as a heat map, where each head looks most.
void print_look(const LookCommand& command, const std::string& model_name, const inspect::Record& record);
// The same as JSON.
nlohmann::json look_json(const inspect::Record& record, const LookFiles& files, double seconds);

}  // namespace attn::app
