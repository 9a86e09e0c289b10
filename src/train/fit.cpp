// SPDX-License-Identifier: Apache-2.0
#include <attn/error.hpp>
#include <attn/nn/gradients.hpp>
#include <attn/nn/optimiser.hpp>
#include <attn/nn/schedule.hpp>
#include <attn/nn/weight_average.hpp>
#include <attn/train/checkpoint.hpp>
#include <attn/train/fit.hpp>
#include <chrono>
#include <cmath>
#include <optional>

#include "base/concat.hpp"
#include "io/json.hpp"
#include "train/metrics_log.hpp"

namespace attn::train {
namespace {

using Clock = std::chrono::steady_clock;

// AdamW shrinks matrices only: a norm's factor has no reason to be small, nor has a bias.
struct Groups {
  nn::ParameterList matrices, vectors;
  explicit Groups(const nn::ParameterList& all) {
    for (const nn::NamedParameter& p : all) (p.variable.shape().size() > 1 ? matrices : vectors).push_back(p);
  }
};

class Run {
 public:
  Run(Task& task, const FitOptions& options, Context& context)
      : task_(task),
        options_(options),
        context_(context),
        parameters_(task.parameters()),
        groups_(parameters_),
        decayed_(groups_.matrices, {.weight_decay = options.training.weight_decay}),
        plain_(groups_.vectors),
        checkpoint_file_(options.folder / "checkpoint.safetensors"),
        best_file_(options.folder / "best.safetensors") {
    if (options.training.precision == DType::f16) scaler_.emplace();
    if (options.training.average > 0) average_.emplace(parameters_, options.training.average);
    dropout_.seed = options.training.seed;
    std::filesystem::create_directories(options.folder);
    if (std::filesystem::exists(checkpoint_file_)) resume();
    report_.first_step = step_ + 1;
  }

  FitReport go() {
    const TrainingRecipe& t = options_.training;
    MetricsLog log(options_.folder / "metrics.jsonl", step_);
    const auto start = Clock::now();
    while (step_ < t.steps && !report_.stopped_early) {
      const auto step_start = Clock::now();
      const StepReport report = step();
      log.step(report, std::chrono::duration<double>(Clock::now() - step_start).count());
      if (options_.on_step) options_.on_step(report);
      if (step_ % t.evaluate_every == 0 || step_ == t.steps) evaluate(log);
      if (step_ % t.checkpoint_every == 0 || step_ == t.steps || report_.stopped_early) save();
    }
    report_.last_step = step_;
    report_.seconds = std::chrono::duration<double>(Clock::now() - start).count();
    return report_;
  }

 private:
  StepReport step() {
    const TrainingRecipe& t = options_.training;
    const Batch& batch = next_batch();
    ++step_;
    decayed_.zero_grad();
    plain_.zero_grad();
    const nn::Variable loss = task_.loss(batch, &dropout_, context_);
    StepReport report{.step = step_, .loss = static_cast<double>(loss.value().values<float>()[0])};
    report.learning_rate = t.learning_rate * nn::warmup_cosine(step_, t.warmup, t.steps);
    for (const std::size_t item : batch) report.tokens += lengths_[item];
    differentiate(loss, report);
    if (!report.is_skipped) change_weights(report);
    return report;
  }

  // Gradients that overflowed fit once the scale is smaller, unless there is none, or the loss itself is not finite:
  // then change_weights stops the run.
  void differentiate(const nn::Variable& loss, StepReport& report) {
    if (!scaler_) return loss.backward(context_);
    report.loss_scale = scaler_->scale();
    scaler_->scaled(loss, context_).backward(context_);
    const bool overflowed = !scaler_->unscale(parameters_, context_);
    report.is_skipped = overflowed && report.loss_scale > 1 && std::isfinite(report.loss);
  }

  void change_weights(StepReport& report) {
    report.grad_norm = nn::clip_grad_norm(parameters_, options_.training.clip, context_);
    if (!std::isfinite(report.loss) || !std::isfinite(report.grad_norm)) fail(report);
    for (nn::AdamW* optimiser : {&decayed_, &plain_}) {
      optimiser->set_learning_rate(report.learning_rate);
      optimiser->step(context_);
    }
    if (average_) average_->update(context_);
  }

  std::vector<Batch> epoch_batches() const {
    const TrainingRecipe& t = options_.training;
    return make_batches(lengths_, t.seed, epoch_, {.size = t.batch, .tokens = t.batch_tokens});
  }

  const Batch& next_batch() {
    if (lengths_.empty()) lengths_ = task_.lengths();
    if (lengths_.empty()) throw Error("fit", "task", "no training examples, expected one or more");
    if (batches_.empty()) batches_ = epoch_batches();
    // A checkpoint may stand at the very end of an epoch.
    if (place_ == batches_.size()) {
      ++epoch_;
      place_ = 0;
      batches_ = epoch_batches();
    }
    return batches_[place_++];
  }

  // The mean of weights in their place, for as long as it lives.
  class Averaged {
   public:
    explicit Averaged(std::optional<nn::WeightAverage>& average) : average_(average) { exchange(); }
    ~Averaged() { exchange(); }
    Averaged(const Averaged&) = delete;
    Averaged& operator=(const Averaged&) = delete;

   private:
    void exchange() {
      if (average_) average_->exchange();
    }
    std::optional<nn::WeightAverage>& average_;
  };

  void evaluate(MetricsLog& log) {
    const Averaged averaged(average_);
    const std::vector<Score> scores = task_.evaluate(Part::validation, context_);
    log.scores(step_, scores);
    if (options_.on_scores) options_.on_scores(step_, scores);
    if (report_.best.empty() || scores[0].beats(report_.best[0].value)) {
      report_.best = scores;
      report_.best_step = step_;
      worse_ = 0;
      save_weights(best_file_, parameters_);
    } else {
      ++worse_;
    }
    report_.stopped_early = options_.training.patience > 0 && worse_ >= options_.training.patience;
  }

  [[noreturn]] void fail(const StepReport& report) const {
    const bool is_loss = !std::isfinite(report.loss);
    const std::string parameter = nn::first_non_finite_grad(parameters_, context_);
    throw Error("fit", base::concat("step ", report.step),
                base::concat(is_loss ? "the loss is " : "the norm of the gradients is ",
                             is_loss ? report.loss : report.grad_norm,
                             parameter.empty() ? "" : base::concat(", first in the gradient of \"", parameter, "\""),
                             "; the last good checkpoint is ",
                             std::filesystem::exists(checkpoint_file_) ? checkpoint_file_.string() : "none"));
  }

  void save() const {
    Checkpoint checkpoint;
    checkpoint.state["state"] = state().dump();
    const auto keep = [&](const std::string& prefix, const nn::StateDict& state) {
      for (const auto& [name, tensor] : state) checkpoint.optimizer[prefix + name] = tensor;
    };
    keep("decayed.", decayed_.state());
    keep("plain.", plain_.state());
    if (scaler_) keep("scaler.", scaler_->state());
    if (average_) keep("average.", average_->state());
    save_checkpoint(checkpoint_file_, parameters_, checkpoint);
  }

  nlohmann::json state() const {
    nlohmann::json best = nlohmann::json::array();
    for (const Score& s : report_.best) {
      best.push_back({{"name", s.name}, {"value", s.value}, {"higher", s.better == Score::Better::higher}});
    }
    return {{"step", step_},
            {"epoch", epoch_},
            {"place", place_},
            {"seed", dropout_.seed},
            {"precision", attn::name_of(options_.training.precision)},
            {"average", options_.training.average},
            {"offset", dropout_.offset},
            {"worse", worse_},
            {"best", best},
            {"best_step", report_.best_step},
            {"stopped", report_.stopped_early}};
  }

  void resume() {
    if (!options_.resume) {
      throw Error(checkpoint_file_.string(), "", "holds an earlier run; resume it, or choose another folder");
    }
    const Checkpoint checkpoint = load_checkpoint(checkpoint_file_, parameters_);
    const nlohmann::json state = io::parse_json(checkpoint_file_.string(), "state", checkpoint.state.at("state"));
    step_ = state.at("step");
    epoch_ = state.at("epoch");
    place_ = state.at("place");
    dropout_.offset = state.at("offset");
    worse_ = state.at("worse");
    report_.best_step = state.at("best_step");
    report_.stopped_early = state.at("stopped");
    const auto expect = [&](const char* key, const auto& found, const auto& wanted) {
      if (found == wanted) return;
      throw Error(checkpoint_file_.string(), key,
                  base::concat("found ", found, ", expected ", wanted, " as in the recipe"));
    };
    expect("seed", state.at("seed").get<std::uint64_t>(), options_.training.seed);
    expect("precision", state.at("precision").get<std::string>(), attn::name_of(options_.training.precision));
    expect("average", state.value("average", 0.0), options_.training.average);
    for (const nlohmann::json& s : state.at("best")) {
      report_.best.push_back(
          {s.at("name"), s.at("value"), s.at("higher").get<bool>() ? Score::Better::higher : Score::Better::lower});
    }
    const auto kept = [&](std::string_view prefix) {
      nn::StateDict own;
      for (const auto& [name, tensor] : checkpoint.optimizer) {
        if (name.starts_with(prefix)) own.emplace(name.substr(prefix.size()), tensor);
      }
      return own;
    };
    decayed_.load_state(kept("decayed."));
    plain_.load_state(kept("plain."));
    if (scaler_) scaler_->load_state(kept("scaler."));
    if (average_) average_->load_state(kept("average."));
  }

  Task& task_;
  const FitOptions& options_;
  Context& context_;
  nn::ParameterList parameters_;
  Groups groups_;
  nn::AdamW decayed_, plain_;
  std::optional<nn::LossScaler> scaler_;      // of f16
  std::optional<nn::WeightAverage> average_;  // where the recipe asks for it
  nn::DropoutStream dropout_;
  std::filesystem::path checkpoint_file_, best_file_;
  std::span<const std::ptrdiff_t> lengths_;
  std::vector<Batch> batches_;
  std::int64_t step_ = 0, worse_ = 0;
  std::uint64_t epoch_ = 0;
  std::size_t place_ = 0;  // of the next batch in its epoch
  FitReport report_;
};

}  // namespace

FitReport fit(Task& task, const FitOptions& options, Context& context) { return Run(task, options, context).go(); }

}  // namespace attn::train
