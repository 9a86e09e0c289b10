// SPDX-License-Identifier: Apache-2.0
#include "trained.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <attn/error.hpp>
#include <attn/train.hpp>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>

#include "command.hpp"
#include "cross_picture.hpp"
#include "outputs.hpp"
#include "progress.hpp"
#include "text_file.hpp"

namespace attn::app {
namespace {

struct TrainedCommand {
  CommonOptions common;
  std::filesystem::path folder, data, file;
  std::string part = "test";
  std::vector<std::string> inputs;
  std::filesystem::path pictures;
};

std::unique_ptr<train::Task> open_task(const TrainedCommand& command) {
  train::Recipe recipe = train::load_recipe(command.folder / kRecipeFile);
  if (!command.data.empty()) recipe.data = command.data;
  auto task = train::make_task(recipe, train::load_lexicon(command.folder / kLexiconFile));
  train::load_weights(command.folder / kWeightsFile, task->parameters());
  return task;
}

void eval(const TrainedCommand& command) {
  Progress progress(shows_progress(command.common));
  progress.stage("evaluating");
  Context context(context_options(command.common));
  const std::unique_ptr<train::Task> task = open_task(command);
  const train::Part part = command.part == "test" ? train::Part::test : train::Part::validation;
  const auto start = std::chrono::steady_clock::now();
  const std::vector<train::Score> scores = task->evaluate(part, context);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  progress.hide();
  if (command.common.json) {
    print_json({{"part", command.part}, {"scores", json_of(scores)}, {"seconds", seconds}});
  } else {
    fmt::print("{}: {}\n", command.part, text_of(scores));
  }
}

// Texts of the test part, from all over it.
std::vector<std::string> held_out(const std::filesystem::path& data) {
  const std::vector<train::TextPair> pairs = train::read_pairs(data / "test.jsonl");
  const std::size_t count = std::min<std::size_t>(10, pairs.size());
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < count; ++i) texts.push_back(pairs[i * pairs.size() / count].source);
  return texts;
}

std::filesystem::path vector_file(std::filesystem::path file) { return file.replace_extension("svg"); }

void check_pictures(const TrainedCommand& command, const std::vector<std::filesystem::path>& files) {
  check_output_folder(command.pictures);
  if (!std::filesystem::exists(command.pictures)) return;
  std::vector<std::filesystem::path> inputs;
  if (!command.file.empty()) inputs.push_back(command.file);
  for (const std::filesystem::path& file : files) {
    check_output(file, inputs);
    check_output(vector_file(file), inputs);
  }
}

void predict_with_pictures(const TrainedCommand& command, std::vector<std::string> inputs) {
  const train::Recipe recipe = train::load_recipe(command.folder / kRecipeFile);
  if (recipe.task != train::TaskKind::translation) {
    throw Error("--picture", "", fmt::format("the task is {}, expected translation", train::name_of(recipe.task)));
  }
  Context context(context_options(command.common));
  const std::unique_ptr<train::Task> task = open_task(command);
  if (inputs.empty()) inputs = held_out(command.data.empty() ? recipe.data : command.data);
  const std::vector<std::filesystem::path> files = picture_files(command.pictures, inputs.size());
  check_pictures(command, files);
  Progress progress(shows_progress(command.common));
  progress.stage("translating", inputs.size());
  std::vector<CrossPicture> pictures;
  for (const std::string& input : inputs) {
    progress.update(pictures.size());
    pictures.push_back(draw_cross_attention(input, task->attend(input, context)));
  }
  progress.hide();
  const OutputFolder made(command.pictures);
  OutputFiles outputs;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    outputs.add(files[i]).write(pictures[i].png);
    outputs.add(vector_file(files[i])).write(pictures[i].svg);
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::string &output = pictures[i].output, file = files[i].string();
    if (command.common.json) {
      print_json({{"input", inputs[i]}, {"output", output}, {"picture", file}}, JsonLayout::line);
    } else {
      fmt::print("{}\n  {}\n  {}\n", file, printable(inputs[i]), printable(output));
    }
  }
  outputs.commit();
}

void predict(const TrainedCommand& command) {
  std::vector<std::string> inputs = command.inputs;
  if (!command.file.empty()) {
    for (std::string& line : read_lines(command.file)) inputs.push_back(std::move(line));
  }
  if (!command.pictures.empty()) return predict_with_pictures(command, std::move(inputs));
  if (inputs.empty()) throw Error("predict", "", "no input, expected texts or --file");
  Context context(context_options(command.common));
  const std::unique_ptr<train::Task> task = open_task(command);
  for (const std::string& input : inputs) {
    const std::string output = task->predict(input, context);
    if (command.common.json) {
      print_json({{"input", input}, {"output", output}}, JsonLayout::line);
    } else {
      fmt::print("{}\n", printable(output));
    }
  }
}

}  // namespace

std::string text_of(const std::vector<train::Score>& scores) {
  std::string text;
  for (const train::Score& score : scores) {
    text += fmt::format("{}{} {:.4f}", text.empty() ? "" : ", ", score.name, score.value);
  }
  return text;
}

nlohmann::json json_of(const std::vector<train::Score>& scores) {
  nlohmann::json json = nlohmann::json::object();
  for (const train::Score& score : scores) json[score.name] = score.value;
  return json;
}

void add_eval(CLI::App& app) {
  auto command = std::make_shared<TrainedCommand>();
  CLI::App* verb = app.add_subcommand("eval", "Judge a trained model on data that it has not seen");
  verb->add_option("folder", command->folder, "Folder of a run, as train makes it")
      ->required()
      ->check(not_empty())
      ->option_text("FOLDER");
  verb->add_option("--part", command->part, "test or validation")
      ->check(CLI::IsMember({"test", "validation"}))
      ->option_text("PART");
  verb->add_option("--data", command->data, "Folder of the data (default: that of the recipe)")
      ->check(not_empty())
      ->option_text("FOLDER");
  add_common_options(*verb, command->common, "attn eval runs/images",
                     "from the project's folder, after the example of train");
  verb->callback([command] { eval(*command); });
}

void add_predict(CLI::App& app) {
  auto command = std::make_shared<TrainedCommand>();
  CLI::App* verb = app.add_subcommand("predict", "What a trained model makes of texts or images");
  verb->add_option("folder", command->folder, "Folder of a run, as train makes it")
      ->required()
      ->check(not_empty())
      ->option_text("FOLDER");
  verb->add_option("inputs", command->inputs, "Texts; for images .npy files")->option_text("INPUT...");
  verb->add_option("--file", command->file, "UTF-8, one input a line")->check(not_empty())->option_text("FILE");
  verb->add_option("--picture", command->pictures,
                   "Folder for pictures of where the heads look; of ten held-out texts without an input")
      ->check(not_empty())
      ->option_text("FOLDER");
  verb->add_option("--data", command->data, "Folder of the data with the held-out texts (default: that of the recipe)")
      ->check(not_empty())
      ->option_text("FOLDER");
  add_common_options(*verb, command->common, "attn predict runs/language 'In the beginning'",
                     "from the project's folder, after attn train examples/recipes/language.json");
  verb->callback([command] { predict(*command); });
}

}  // namespace attn::app
