// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <attn/train/checkpoint.hpp>
#include <attn/train/hub.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "command.hpp"
#include "outputs.hpp"
#include "trained.hpp"

namespace attn::app {
namespace {

struct ExportCommand {
  CommonOptions common;
  std::filesystem::path folder, output;
};

void run_export(const ExportCommand& command) {
  check_output_folder(command.output);
  const train::Recipe recipe = train::load_recipe(command.folder / kRecipeFile);
  const train::Lexicon lexicon = train::load_lexicon(command.folder / kLexiconFile);
  const std::unique_ptr<train::Task> task = train::make_task(recipe, lexicon);
  train::load_weights(command.folder / kWeightsFile, task->parameters());
  train::export_hub(command.output, recipe, lexicon, task->parameters());
  if (command.common.json) {
    print_json({{"folder", command.output.string()}, {"task", train::name_of(recipe.task)}});
  } else if (!command.common.quiet) {
    fmt::print("{}\n", command.output.string());
  }
}

}  // namespace

void add_export(CLI::App& app) {
  auto command = std::make_shared<ExportCommand>();
  CLI::App* verb = app.add_subcommand("export", "A trained text encoder as a folder that transformers loads");
  verb->add_option("folder", command->folder, "Folder of a run, as train makes it")
      ->required()
      ->check(not_empty())
      ->option_text("FOLDER");
  verb->add_option("-o,--output", command->output, "Folder to write, made if absent")
      ->required()
      ->check(not_empty())
      ->option_text("HUB_DIR");
  add_common_options(*verb, command->common, "attn export runs/entities -o entities-hub",
                     "from the project's folder, after attn train examples/recipes/entities.json");
  verb->callback([command] { run_export(*command); });
}

}  // namespace attn::app
