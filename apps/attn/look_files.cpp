// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <attn/draw/display_width.hpp>
#include <attn/draw/figure.hpp>
#include <attn/draw/page.hpp>
#include <attn/error.hpp>
#include <optional>
#include <set>
#include <sstream>

#include "look.hpp"
#include "outputs.hpp"

namespace attn::app {
namespace {

// One recorded head, (L, L).
In<2> head_of(const Tensor& weights, std::size_t head) {
  return weights.view<float, 3>().select(0, static_cast<std::ptrdiff_t>(head));
}

std::string shown_text(const LookCommand& command, const LookText& text) {
  return command.has_pair ? text.text + " / " + command.pair : text.text;
}

std::string page_of(const LookCommand& command, const std::string& model_name, const LookText& text,
                    const inspect::Record& record) {
  draw::PageInput input{.title = "Attention of " + model_name,
                        .subtitle = shown_text(command, text),
                        .row_labels = record.encoding.tokens,
                        .column_labels = record.encoding.tokens};
  for (std::size_t layer = 0; layer < record.layers.size(); ++layer) {
    draw::PageGroup group{.name = std::to_string(record.layers[layer])};
    for (std::size_t head = 0; head < record.heads.size(); ++head) {
      group.items.push_back(
          {.name = std::to_string(record.heads[head]), .values = head_of(record.weights[layer], head)});
    }
    input.groups.push_back(std::move(group));
  }
  const draw::PageOptions options{.words = {.row = "query",
                                            .rows = "queries",
                                            .column = "key",
                                            .columns = "keys",
                                            .group = "layer",
                                            .item = "head",
                                            .value = "weight",
                                            .row_shows = "where {} looks",
                                            .column_shows = "who looks at {}"},
                                  .colormap = draw::Colormap::named(command.colormap)};
  return draw::make_page(input, options);
}

draw::Figure figure_of(const LookCommand& command, const std::string& model_name, const LookText& text,
                       const inspect::Record& record) {
  std::vector<draw::Panel> panels;
  for (std::size_t layer = 0; layer < record.layers.size(); ++layer) {
    for (std::size_t head = 0; head < record.heads.size(); ++head) {
      panels.push_back({.values = head_of(record.weights[layer], head),
                        .title = fmt::format("layer {} head {}", record.layers[layer], record.heads[head])});
    }
  }
  const std::size_t columns = record.heads.size();
  // Wide enough to name every token of a sentence in each panel; a paragraph's would make a poster.
  const double wanted = 12.0 * static_cast<double>(columns * record.encoding.tokens.size());
  return draw::make_grid(panels,
                         {.columns = record.layers.size() == 1 ? 0 : static_cast<std::ptrdiff_t>(columns),
                          .row_labels = record.encoding.tokens,
                          .column_labels = record.encoding.tokens,
                          .title = "Attention of " + model_name + ": " + draw::elide(shown_text(command, text), 80),
                          .row_title = "query",
                          .column_title = "key",
                          .scale_title = "weight",
                          .colormap = draw::Colormap::named(command.colormap),
                          .max_width = std::clamp(wanted, 1600.0, 3200.0)});
}

// Each once, in the order of the alphabet.
std::set<std::string> formats_of(const LookCommand& command) {
  std::set<std::string> formats;
  std::istringstream list(command.formats);
  for (std::string format; std::getline(list, format, ',');) {
    if (format != "html" && format != "png" && format != "svg" && format != "pdf") {
      throw Error("--format", "", fmt::format("\"{}\", expected any of html,png,svg,pdf", format));
    }
    formats.insert(format);
  }
  return formats;
}

draw::FigureFormat figure_format(const std::string& format) {
  if (format == "png") return draw::FigureFormat::png;
  if (format == "svg") return draw::FigureFormat::svg;
  return draw::FigureFormat::pdf;
}

std::filesystem::path path_of(const LookCommand& command, const LookText& text, const std::string& format) {
  const std::string_view name = format == "html" ? "attention" : "heads";
  return command.folder / fmt::format("{}{}.{}", name, text.suffix, format);
}

}  // namespace

LookFiles draw_look(const LookCommand& command, const std::string& model_name, const LookText& text,
                    const inspect::Record& record) {
  LookFiles files;
  std::optional<draw::Figure> figure;
  for (const std::string& format : formats_of(command)) {
    files.paths.push_back(path_of(command, text, format));
    if (format == "html") {
      files.bytes.push_back(page_of(command, model_name, text, record));
      continue;
    }
    if (!figure) figure.emplace(figure_of(command, model_name, text, record));
    files.bytes.push_back(figure->encode(figure_format(format)));
    files.unreadable = figure->unreadable_texts();
  }
  return files;
}

void check_look_output(const LookCommand& command, const std::vector<LookText>& texts) {
  const std::set<std::string> formats = formats_of(command);
  check_output_folder(command.folder);
  if (!std::filesystem::exists(command.folder)) return;
  std::vector<std::filesystem::path> inputs;
  if (!command.has_text) inputs.push_back(command.file);
  for (const LookText& text : texts) {
    for (const std::string& format : formats) check_output(path_of(command, text, format), inputs);
  }
}

void write_look(const std::filesystem::path& folder, const LookFiles& files, const std::function<void()>& tell) {
  const OutputFolder made(folder);
  OutputFiles outputs;
  for (std::size_t i = 0; i < files.paths.size(); ++i) outputs.add(files.paths[i]).write(files.bytes[i]);
  tell();
  outputs.commit();
}

}  // namespace attn::app
