// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <attn/error.hpp>
#include <attn/io/atomic_file.hpp>
#include <attn/train.hpp>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>

#include "command.hpp"
#include "outputs.hpp"
#include "progress.hpp"
#include "text_file.hpp"
#include "trained.hpp"

namespace attn::app {
namespace {

struct TrainCommand {
  CommonOptions common;
  std::filesystem::path recipe, output;
  bool resume = false;
};

void write_file(const std::filesystem::path& path, const std::string& bytes) {
  io::AtomicFile file(path);
  file.write(bytes);
  file.commit();
}

std::string file_text(const std::filesystem::path& path) {
  std::string text;
  for (const std::string& line : read_lines(path)) text += line + '\n';
  return text;
}

// The tokens and labels of this run: those kept in its folder, or new ones.
train::Lexicon lexicon_of(const TrainCommand& command, const train::Recipe& recipe) {
  const std::filesystem::path own = command.output / kRecipeFile, lexicon = command.output / kLexiconFile;
  if (command.resume && std::filesystem::exists(own) && std::filesystem::exists(lexicon)) {
    if (file_text(own) == file_text(command.recipe)) return train::load_lexicon(lexicon);
    throw Error(command.recipe.string(), "", fmt::format("differs from {}, the recipe of this run", own.string()));
  }
  if (std::filesystem::exists(own)) {
    throw Error(command.output.string(), "", "holds an earlier run; give --resume, or another --output");
  }
  return train::learn_lexicon(recipe);
}

// What a run consists of besides its numbers, so that eval, predict and --resume need nothing else.
void write_folder(const TrainCommand& command, const train::Lexicon& lexicon) {
  std::filesystem::create_directories(command.output);
  train::save_lexicon(command.output / kLexiconFile, lexicon);
  write_file(command.output / kRecipeFile, file_text(command.recipe));
}

// Tells of each step, on the bar.
class Reporter {
 public:
  Reporter(Progress& progress, std::int64_t steps) : progress_(progress), steps_(static_cast<std::size_t>(steps)) {}

  void step(const train::StepReport& report) {
    if (!is_started_) progress_.stage("training", steps_, static_cast<std::size_t>(report.step - 1));
    is_started_ = true;
    tokens_ += static_cast<double>(report.tokens);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    smooth_ = smooth_ < 0 ? report.loss : 0.95 * smooth_ + 0.05 * report.loss;
    progress_.update(static_cast<std::size_t>(report.step),
                     fmt::format("loss {:.4f}, {:.0f} tokens/s", smooth_, tokens_ / std::max(seconds, 1e-9)));
  }

 private:
  Progress& progress_;
  std::size_t steps_;
  bool is_started_ = false;
  double tokens_ = 0, smooth_ = -1;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

void print_report(const TrainCommand& command, const train::FitReport& report) {
  if (command.common.json) {
    print_json({{"folder", command.output.string()},
                {"first_step", report.first_step},
                {"last_step", report.last_step},
                {"seconds", report.seconds},
                {"best_step", report.best_step},
                {"validation", json_of(report.best)},
                {"stopped_early", report.stopped_early}});
  } else if (!command.common.quiet) {
    fmt::print("{} steps in {:.0f} s{}; best at step {}: {}\n{}\n", report.last_step - report.first_step + 1,
               report.seconds, report.stopped_early ? ", stopped early" : "", report.best_step, text_of(report.best),
               command.output.string());
  }
}

void run_train(TrainCommand command) {
  const train::Recipe recipe = train::load_recipe(command.recipe);
  if (command.output.empty()) command.output = std::filesystem::path("runs") / command.recipe.stem();
  check_output_folder(command.output);
  Progress progress(shows_progress(command.common));
  progress.stage("reading the data");
  const train::Lexicon lexicon = lexicon_of(command, recipe);
  Context context(context_options(command.common));
  const std::unique_ptr<train::Task> task = train::make_task(recipe, lexicon);
  task->read(train::Part::train);
  task->read(train::Part::validation);
  write_folder(command, lexicon);
  Reporter reporter(progress, recipe.training.steps);
  train::FitOptions options{.training = recipe.training, .folder = command.output, .resume = command.resume};
  options.on_step = [&](const train::StepReport& report) { reporter.step(report); };
  options.on_scores = [&](std::int64_t step, const std::vector<train::Score>& scores) {
    if (command.common.quiet) return;
    progress.hide();
    say(fmt::format("step {}: {}\n", step, text_of(scores)));
  };
  const train::FitReport report = train::fit(*task, options, context);
  progress.hide();
  write_file(command.output / "loss.png", train::loss_curve(command.output / "metrics.jsonl", draw::FigureFormat::png,
                                                            std::string(train::name_of(recipe.task))));
  print_report(command, report);
}

}  // namespace

void add_train(CLI::App& app) {
  auto command = std::make_shared<TrainCommand>();
  CLI::App* verb = app.add_subcommand("train", "Train a model by a recipe, on what script/data made");
  verb->add_option("recipe", command->recipe, "A JSON file; examples/recipes has one for each task")
      ->required()
      ->check(not_empty())
      ->option_text("RECIPE.json");
  verb->add_option("-o,--output", command->output, "Folder of the run (default: runs/RECIPE)")
      ->check(not_empty())
      ->option_text("FOLDER");
  verb->add_flag("--resume", command->resume, "Go on from the folder's checkpoint, if there is one");
  add_common_options(*verb, command->common, "attn train examples/recipes/images.json -o runs/images",
                     "from the project's folder, after script/data images");
  verb->callback([command] { run_train(*command); });
}

}  // namespace attn::app
