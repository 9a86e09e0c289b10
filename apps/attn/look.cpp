// SPDX-License-Identifier: Apache-2.0
#include "look.hpp"

#include <fmt/format.h>

#include <attn/draw/colormap.hpp>
#include <attn/error.hpp>
#include <attn/models.hpp>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>

#include "progress.hpp"
#include "text_file.hpp"

namespace attn::app {
namespace {

std::vector<LookText> texts_of(const LookCommand& command) {
  if (command.has_text == !command.file.empty()) {
    throw Error("look", "", "expected either a text, or --file with one text a line");
  }
  if (command.has_text) return {{.text = command.text, .suffix = "", .where = "text"}};
  std::vector<LookText> texts;
  for (const std::string& line : read_lines(command.file)) {
    const std::string number = std::to_string(texts.size() + 1);
    texts.push_back({.text = line, .suffix = "-" + number, .where = command.file.string() + ":" + number});
  }
  if (texts.empty()) throw Error(command.file.string(), "", "no line, expected one text a line");
  return texts;
}

// The folder's own name, also for "model/" and ".".
std::string name_of_folder(const std::filesystem::path& folder) {
  const std::filesystem::path whole = std::filesystem::absolute(folder).lexically_normal();
  return whole.filename().empty() ? whole.parent_path().filename().string() : whole.filename().string();
}

// Layers or heads that were asked for, each of which the model must have.
std::vector<std::ptrdiff_t> chosen(std::string_view option, const std::string& text, std::ptrdiff_t number) {
  const std::vector<std::ptrdiff_t> numbers = parse_ranges(option, text);
  for (const std::ptrdiff_t n : numbers) {
    if (n >= number) throw Error(option, "", fmt::format("{}, expected at most {}, as in the model", n, number - 1));
  }
  return numbers;
}

// The tokens of every text, before anything is computed or written for any: with --strict a notice is an error.
std::vector<io::Encoding> encode(const LookCommand& command, const std::vector<LookText>& texts,
                                 const models::BertModel& model) {
  io::EncodeOptions options{.max_tokens = static_cast<std::size_t>(model.max_positions())};
  if (command.has_pair) options.pair = command.pair;
  std::vector<io::Encoding> encodings;
  for (const LookText& text : texts) {
    const io::Encoding& encoding = encodings.emplace_back(model.tokenizer().encode(text.text, options));
    if (encoding.replaced_invalid_utf8) {
      notice(command.common, text.where, "bytes that are not UTF-8 were read as U+FFFD");
    }
    if (encoding.cut) {
      notice(command.common, text.where, fmt::format("longer than the model's {} tokens, cut", model.max_positions()));
    }
  }
  return encodings;
}

void report(const LookCommand& command, const std::string& model_name, const LookText& text,
            const inspect::Record& record, const LookFiles& files, double seconds, const Context& context) {
  if (command.common.json) {
    print_json(look_json(record, files, seconds), command.has_text ? JsonLayout::indented : JsonLayout::line);
    return;
  }
  if (command.common.quiet) return;
  if (!command.has_text) fmt::print("{}\n", printable(text.where));
  print_look(command, model_name, record);
  fmt::print("\ncomputed in {:.3f} s on {} ({})\n", seconds, counted(context.threads(), "thread"), context.isa());
  for (const std::filesystem::path& file : files.paths) fmt::print("{}\n", file.string());
  if (!command.has_text) fmt::print("\n");
}

void look(const LookCommand& command) {
  const std::vector<LookText> texts = texts_of(command);
  check_look_output(command, texts);
  const std::string model_name = name_of_folder(command.model);
  Progress progress(shows_progress(command.common));
  progress.stage("loading the model");
  Context context(context_options(command.common));
  const models::BertModel model = models::load(command.model, context);
  progress.hide();
  const inspect::RecordOptions options{.layers = chosen("--layers", command.layers, model.config().num_hidden_layers),
                                       .heads = chosen("--heads", command.heads, model.config().num_attention_heads)};
  const std::vector<io::Encoding> encodings = encode(command, texts, model);
  progress.stage("looking", command.has_text ? 0 : texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    progress.update(i);
    const auto start = std::chrono::steady_clock::now();
    const inspect::Record record = inspect::record(model, encodings[i], options, context);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const LookFiles files = draw_look(command, model_name, texts[i], record);
    progress.hide();
    for (const std::string& label : files.unreadable) {
      notice(command.common, texts[i].where, fmt::format("no installed font can show \"{}\"", printable(label)));
    }
    write_look(command.folder, files, [&] { report(command, model_name, texts[i], record, files, seconds, context); });
  }
}

std::vector<std::string> colormap_names() { return {draw::Colormap::names().begin(), draw::Colormap::names().end()}; }

}  // namespace

void add_look(CLI::App& app) {
  auto command = std::make_shared<LookCommand>();
  CLI::App* verb = app.add_subcommand("look", "See where the heads of a model look when it reads a text");
  verb->add_option("model", command->model, "Folder with config.json, tokenizer.json and model.safetensors")
      ->required()
      ->check(not_empty())
      ->option_text("MODEL_DIR");
  CLI::Option* text = verb->add_option("text", command->text, "The text")->option_text("TEXT");
  CLI::Option* pair =
      verb->add_option("--pair", command->pair, "A second text, for models that read two")->option_text("TEXT");
  verb->add_option("--file", command->file, "UTF-8, one text a line; what is written is numbered by line")
      ->check(not_empty())
      ->option_text("FILE");
  verb->add_option("--layers", command->layers, "Layers to show, as in 0-2,5; all by default")
      ->check(not_empty("numbers such as 0-2,5"))
      ->option_text("NUMBERS");
  verb->add_option("--heads", command->heads, "Heads to show, as in 0-2,5; all by default")
      ->check(not_empty("numbers such as 0-2,5"))
      ->option_text("NUMBERS");
  verb->add_option("--cmap", command->colormap, "Colours: blues (default), hot or viridis")
      ->check(CLI::IsMember(colormap_names()))
      ->option_text("NAME");
  verb->add_option("--format", command->formats, "Any of html,png,svg,pdf; html,png,svg by default")
      ->check(not_empty("any of html,png,svg,pdf"))
      ->option_text("FORMATS");
  verb->add_option("-o,--output", command->folder, "Folder to write to, made if absent; out by default")
      ->check(not_empty())
      ->option_text("DIR");
  add_common_options(*verb, command->common,
                     "attn look .cache/models/all-MiniLM-L6-v2 \"I saw a saw\" --layers 0-5 -o out/",
                     "from the project's folder, after script/demo");
  verb->callback([command, text, pair] {
    command->has_text = text->count() > 0;
    command->has_pair = pair->count() > 0;
    look(*command);
  });
}

}  // namespace attn::app
