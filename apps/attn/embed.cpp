// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <attn/error.hpp>
#include <attn/io/npy.hpp>
#include <attn/io/safetensors.hpp>
#include <attn/models.hpp>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <system_error>

#include "command.hpp"
#include "outputs.hpp"
#include "progress.hpp"
#include "text_file.hpp"

namespace attn::app {
namespace {

struct EmbedCommand {
  CommonOptions common;
  std::filesystem::path model, file, output;
};

// The text, and the model's weights; its other files have other names than a result may have.
std::vector<std::filesystem::path> inputs_of(const EmbedCommand& command) {
  std::vector<std::filesystem::path> inputs{command.file};
  std::error_code ignored;  // loading the model fails of the same, and says why
  for (const auto& entry : std::filesystem::directory_iterator(command.model, ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("model") && name.ends_with(".safetensors")) inputs.push_back(entry.path());
  }
  return inputs;
}

void give_notices(const EmbedCommand& command, const models::BertModel& model, const models::Embeddings& embeddings) {
  for (const std::size_t text : embeddings.replaced_invalid) {
    notice(command.common, fmt::format("{}:{}", command.file.string(), text + 1),
           "bytes that are not UTF-8 were read as U+FFFD");
  }
  for (const std::size_t text : embeddings.cut) {
    notice(command.common, fmt::format("{}:{}", command.file.string(), text + 1),
           fmt::format("longer than the model's {} tokens, cut", model.max_seq_length()));
  }
}

void embed(const EmbedCommand& command) {
  const std::string extension = command.output.extension().string();
  if (extension != ".npy" && extension != ".safetensors") {
    throw Error(command.output.string(), "", "expected a name that ends in .npy or .safetensors");
  }
  const std::vector<std::string> lines = read_lines(command.file);
  check_output(command.output, inputs_of(command));
  Progress progress(shows_progress(command.common));
  progress.stage("loading the model");
  Context context(context_options(command.common));
  const models::BertModel model = models::load(command.model, context);
  const auto start = std::chrono::steady_clock::now();
  progress.stage("embedding", lines.size());
  const models::Embeddings embeddings =
      models::embed(model, lines, {.progress = [&](std::size_t done, std::size_t) { progress.update(done); }}, context);
  progress.hide();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  give_notices(command, model, embeddings);
  OutputFiles outputs;
  io::AtomicFile& file = outputs.add(command.output);
  if (extension == ".npy") {
    io::write_npy(file, embeddings.values);
  } else {
    io::write_safetensors(file, {{"embeddings", embeddings.values}});
  }
  if (command.common.json) {
    const nlohmann::json json{{"file", command.output.string()},
                              {"shape", embeddings.values.shape()},
                              {"seconds", seconds},
                              {"cut", embeddings.cut},
                              {"replaced_invalid", embeddings.replaced_invalid}};
    print_json(json);
  } else if (!command.common.quiet) {
    fmt::print("{} in {:.3f} s\n{}\n", counted(static_cast<std::ptrdiff_t>(lines.size()), "text"), seconds,
               command.output.string());
  }
  outputs.commit();
}

}  // namespace

void add_embed(CLI::App& app) {
  auto command = std::make_shared<EmbedCommand>();
  CLI::App* verb = app.add_subcommand("embed", "Sentence embeddings of the lines of a text file");
  verb->add_option("model", command->model, "Folder with config.json, tokenizer.json and model.safetensors")
      ->required()
      ->check(not_empty())
      ->option_text("MODEL_DIR");
  verb->add_option("--file", command->file, "UTF-8, one text a line; row i of the result is line i")
      ->required()
      ->check(not_empty())
      ->option_text("FILE");
  verb->add_option("-o,--output", command->output, "Where to write: .npy or .safetensors")
      ->required()
      ->check(not_empty())
      ->option_text("FILE");
  add_common_options(*verb, command->common,
                     "attn embed .cache/models/all-MiniLM-L6-v2 --file examples/text.txt -o e.npy",
                     "from the project's folder, after script/demo");
  verb->callback([command] { embed(*command); });
}

}  // namespace attn::app
