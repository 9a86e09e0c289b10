// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <attn/autograd/elementwise.hpp>
#include <attn/autograd/linear.hpp>
#include <attn/autograd/loss.hpp>
#include <attn/io/safetensors.hpp>
#include <attn/nn/linear.hpp>
#include <attn/train/checkpoint.hpp>
#include <attn/train/fit.hpp>
#include <cmath>
#include <csignal>
#include <cstring>
#include <fstream>
#include <limits>
#include <numeric>

#include "io/files.hpp"

namespace attn::train {
namespace {

using io::test::message_of;
using io::test::read_bytes;
using io::test::TempFolder;

constexpr std::size_t kExamples = 50;

// Tells y = x W^T + noise; small enough that a hundred steps take no time.
class LineTask : public Task {
 public:
  explicit LineTask(std::ptrdiff_t inputs = 3) : layer_({.in_features = inputs, .out_features = 2}) {
    nn::initialise(layer_, {.seed = 5});
    lengths_.assign(kExamples, 1);
  }

  nn::ParameterList parameters() override { return nn::parameters(layer_); }
  void read(Part) override {}
  std::span<const std::ptrdiff_t> lengths() override { return lengths_; }

  nn::Variable loss(const Batch& batch, nn::DropoutStream* dropout, Context& context) override {
    ++steps;
    if (steps == throws_at) throw Error("test", "", "stopped");
    return error(batch, dropout, steps == breaks_at ? std::numeric_limits<float>::infinity() : 1.0f, context);
  }

  std::vector<Score> evaluate(Part, Context& context) override {
    ++evaluations;
    const autograd::NoGrad no_grad;
    Batch all(kExamples);
    std::iota(all.begin(), all.end(), std::size_t{0});
    const Tensor value = error(all, nullptr, 1, context).value();
    const double worse = evaluations < gets_worse_after ? 0 : 10;
    return {{"error", static_cast<double>(value.values<float>()[0]) + worse, Score::Better::lower}};
  }
  std::string predict(const std::string& input, Context&) override { return input; }

  int steps = 0, evaluations = 0, throws_at = -1, breaks_at = -1, gets_worse_after = 1000;
  DType activations = DType::f32;
  float outlier = 1;  // what the last example has in place of 1

 private:
  nn::Variable error(const Batch& batch, nn::DropoutStream* dropout, float second, Context& context) {
    const std::ptrdiff_t count = std::ssize(batch), inputs = layer_.shape().in_features;
    Tensor x = Tensor::empty(DType::f32, count, inputs), y = Tensor::empty(DType::f32, count, 2);
    float* to_x = x.values<float>().data();
    float* to_y = y.values<float>().data();
    for (const std::size_t item : batch) {
      for (std::ptrdiff_t i = 0; i < inputs; ++i)
        *to_x++ = std::sin(static_cast<float>(item + 2 * static_cast<std::size_t>(i)));
      *to_y++ = std::cos(static_cast<float>(item));
      *to_y++ = item + 1 == kExamples ? outlier : second;
    }
    const nn::Variable seen = nn::dropout(nn::Variable(x), 0.1, dropout, context);
    const nn::Variable told = layer_(autograd::to(seen, activations, context), context);
    return autograd::mse_loss(autograd::to(told, DType::f32, context), nn::Variable(y), context);
  }

  nn::Linear layer_;
  std::vector<std::ptrdiff_t> lengths_;
};

FitOptions options_in(const std::filesystem::path& folder) {
  return {
      .training =
          {.steps = 40, .batch = 8, .learning_rate = 0.05, .warmup = 4, .evaluate_every = 7, .checkpoint_every = 10},
      .folder = folder};
}

std::string without_seconds(const std::string& lines) {
  std::string kept;
  for (std::size_t at = 0; at < lines.size(); ++at) {
    if (lines.compare(at, 10, "\"seconds\":") == 0) at = lines.find_first_of(",}", at);
    kept += lines[at];
  }
  return kept;
}

TEST(Fit, MakesTheLossFall) {
  const TempFolder folder;
  LineTask task;
  std::vector<double> losses;
  FitOptions options = options_in(folder.path());
  options.on_step = [&](const StepReport& report) { losses.push_back(report.loss); };
  const FitReport report = fit(task, options);
  EXPECT_EQ(report.last_step, 40);
  EXPECT_GE(report.best_step, 35);
  ASSERT_EQ(losses.size(), 40u);
  EXPECT_LT(losses.back(), 0.6 * losses.front());
  EXPECT_EQ(folder.names(), (std::vector<std::string>{"best.safetensors", "checkpoint.safetensors", "metrics.jsonl"}));
}

// An epoch has 7 steps, so that some of the checkpoints stand at the end of one. In f16 a step of each epoch overflows.
struct Resumed {
  int checkpoint_every;
  DType precision;
  double average = 0;
};
class FitResumed : public testing::TestWithParam<Resumed> {};

TEST_P(FitResumed, EndsWithTheSameBits) {
  const TempFolder whole, stopped;
  const DType precision = GetParam().precision;
  const auto made = [precision] {
    LineTask task;
    task.activations = precision;
    task.outlier = precision == DType::f16 ? 1000 : 1;
    return task;
  };
  LineTask one = made();
  FitOptions once = options_in(whole.path());
  once.training.checkpoint_every = GetParam().checkpoint_every;
  once.training.precision = precision;
  once.training.average = GetParam().average;
  fit(one, once);
  for (const int step : {1, 9, 11, 14}) {  // each call goes on from the last checkpoint
    LineTask task = made();
    task.throws_at = step;
    FitOptions options = once;
    options.folder = stopped.path();
    options.resume = true;
    EXPECT_EQ(message_of([&] { fit(task, options); }), "test: stopped");
  }
  LineTask last = made();
  FitOptions options = once;
  options.folder = stopped.path();
  options.resume = true;
  EXPECT_EQ(fit(last, options).last_step, 40);
  for (const char* name : {"checkpoint.safetensors", "best.safetensors"}) {
    EXPECT_EQ(read_bytes(stopped / name), read_bytes(whole / name)) << name;
  }
  EXPECT_EQ(without_seconds(read_bytes(stopped / "metrics.jsonl")),
            without_seconds(read_bytes(whole / "metrics.jsonl")));
}

INSTANTIATE_TEST_SUITE_P(CheckpointEvery, FitResumed,
                         testing::Values(Resumed{7, DType::f32}, Resumed{10, DType::f32}, Resumed{10, DType::f16},
                                         Resumed{7, DType::f32, 0.8}));

TEST(Fit, KeepsTheMeanOfTheWeights) {
  const TempFolder folder;
  LineTask task;
  FitOptions options = options_in(folder.path());
  options.training.average = 0.8;
  options.training.evaluate_every = options.training.steps;  // once, at the end
  const FitReport report = fit(task, options);
  // Training ends with its own weights; those that were judged are another set, which best.safetensors holds.
  Context& context = default_context();
  const double own = task.evaluate(Part::validation, context)[0].value;
  EXPECT_NE(own, report.best[0].value);
  load_weights(folder / "best.safetensors", task.parameters());
  EXPECT_EQ(task.evaluate(Part::validation, context)[0].value, report.best[0].value);
  options.resume = true;
  options.training.average = 0.9;
  EXPECT_EQ(message_of([&] { fit(task, options); }),
            (folder / "checkpoint.safetensors").string() + ": average: found 0.8, expected 0.9 as in the recipe");
}

TEST(Fit, ThreadsChangeNoBit) {
  const TempFolder one, four;
  for (const auto& [folder, threads] : {std::pair{&one, 1}, std::pair{&four, 4}}) {
    Context context({.threads = threads});
    LineTask task;
    fit(task, options_in(folder->path()), context);
  }
  EXPECT_EQ(read_bytes(one / "checkpoint.safetensors"), read_bytes(four / "checkpoint.safetensors"));
}

TEST(Fit, NamesStepParameterAndCheckpointWhereANumberIsNotFinite) {
  const TempFolder folder;
  LineTask task;
  task.breaks_at = 13;
  EXPECT_EQ(message_of([&] { fit(task, options_in(folder.path())); }),
            "fit: step 13: the loss is inf, first in the gradient of \"weight\"; the last good checkpoint is " +
                (folder / "checkpoint.safetensors").string());
  const TempFolder other;
  LineTask early;
  early.breaks_at = 2;
  const std::string sentence = message_of([&] { fit(early, options_in(other.path())); });
  EXPECT_NE(sentence.find("the last good checkpoint is none"), std::string::npos) << sentence;
}

TEST(Fit, StopsWhenItGetsNoBetter) {
  const TempFolder folder;
  LineTask task;
  task.gets_worse_after = 3;
  FitOptions options = options_in(folder.path());
  options.training.patience = 2;
  const FitReport report = fit(task, options);
  EXPECT_TRUE(report.stopped_early);
  EXPECT_EQ(report.last_step, 28);
  EXPECT_EQ(report.best_step, 14);
  // Resumed, it has nothing to do.
  options.resume = true;
  LineTask again;
  EXPECT_EQ(fit(again, options).last_step, 28);
  EXPECT_EQ(again.steps, 0);
}

TEST(Fit, RefusesAFolderOfAnotherRun) {
  const TempFolder folder;
  LineTask task;
  fit(task, options_in(folder.path()));
  LineTask again;
  EXPECT_NE(message_of([&] { fit(again, options_in(folder.path())); }).find("holds an earlier run"), std::string::npos);
  FitOptions other = options_in(folder.path());
  other.resume = true;
  other.training.seed = 2;
  EXPECT_NE(message_of([&] { fit(again, other); }).find("seed: found 1, expected 2"), std::string::npos);
  other.training.seed = 1;
  other.training.precision = DType::f16;
  EXPECT_NE(message_of([&] { fit(again, other); }).find("precision: found f32, expected f16"), std::string::npos);
}

struct Curve {
  std::vector<StepReport> reports;
  std::vector<float> weights;  // one of them after each step
};

Curve curve_of(LineTask& task, FitOptions options) {
  Curve curve;
  options.training.precision = task.activations;
  options.on_step = [&](const StepReport& report) {
    curve.reports.push_back(report);
    curve.weights.push_back(task.parameters()[0].variable.value().values<float>()[0]);
  };
  fit(task, options);
  return curve;
}

// Losses of about 1 come from numbers of about 1, each rounded once on its way in and once on its way out.
TEST(FitPrecision, SixteenBitsFollowTheCurveOfF32) {
  const TempFolder whole;
  LineTask f32;
  const Curve expected = curve_of(f32, options_in(whole.path()));
  for (const auto& [precision, rounding] : {std::pair{DType::bf16, 0x1p-8}, std::pair{DType::f16, 0x1p-11}}) {
    const TempFolder folder;
    LineTask task;
    task.activations = precision;
    const Curve found = curve_of(task, options_in(folder.path()));
    for (std::size_t i = 0; i < expected.reports.size(); ++i) {
      EXPECT_NEAR(found.reports[i].loss, expected.reports[i].loss, 2 * rounding) << name_of(precision) << ", " << i;
      EXPECT_EQ(found.reports[i].loss_scale, precision == DType::f16 ? 65536 : 1);
      EXPECT_FALSE(found.reports[i].is_skipped);
    }
    EXPECT_NE(found.weights, expected.weights);
  }
}

TEST(FitPrecision, AnOverflowSkipsTheStepAndHalvesTheScale) {
  const TempFolder folder;
  LineTask task;
  task.activations = DType::f16;
  task.outlier = 1000;  // its gradient of about 100 is within f16's range, and 65536 times it is not
  const Curve curve = curve_of(task, options_in(folder.path()));
  int skipped = 0;
  for (std::size_t i = 0; i < curve.reports.size(); ++i) {
    EXPECT_EQ(curve.reports[i].loss_scale, std::ldexp(65536, -skipped)) << i;
    EXPECT_TRUE(std::isfinite(curve.reports[i].loss)) << i;
    if (i > 0) {
      EXPECT_EQ(curve.weights[i] == curve.weights[i - 1], curve.reports[i].is_skipped) << i;
    }
    skipped += curve.reports[i].is_skipped;
  }
  EXPECT_GE(skipped, 5);  // once in each whole epoch
  EXPECT_NE(read_bytes(folder / "metrics.jsonl").find("\"is_skipped\":true"), std::string::npos);
}

// Smaller scales do not help a gradient that is too large by itself.
TEST(FitPrecision, AGradientThatNoScaleMakesFitStopsTheRun) {
  const TempFolder folder;
  LineTask task;
  task.activations = DType::f16;
  task.outlier = 1e15f;
  FitOptions options = options_in(folder.path());
  options.training.precision = DType::f16;
  options.training.batch = kExamples;
  const std::string sentence = message_of([&] { fit(task, options); });
  EXPECT_NE(sentence.find("fit: step 17: the norm of the gradients is "), std::string::npos) << sentence;
}

TEST(Checkpoint, NamesEveryTensorThatDoesNotFit) {
  const TempFolder folder;
  LineTask three(3), four(4);
  const std::filesystem::path file = folder / "w.safetensors";
  save_weights(file, three.parameters());
  EXPECT_EQ(message_of([&] { load_weights(file, four.parameters()); }),
            file.string() + ": does not fit the model; misshapen: \"weight\" f32 (2, 3), expected f32 (2, 4)");
  io::write_safetensors(file, {{"bias", Tensor::zeros(DType::f64, 2)}, {"extra", Tensor::zeros(DType::f32, 1)}});
  EXPECT_EQ(message_of([&] { load_weights(file, three.parameters()); }),
            file.string() +
                ": does not fit the model; missing: \"weight\"; unknown: \"extra\"; misshapen: \"bias\" f64 (2), "
                "expected f32 (2)");
}

TEST(Checkpoint, BringsBackWhatWasSaved) {
  const TempFolder folder;
  LineTask task, other;
  const std::filesystem::path file = folder / "c.safetensors";
  save_checkpoint(file, task.parameters(), {{{"x", Tensor::of<float>({1, 2}, 2)}}, {{"state", "{}"}}});
  for (const nn::NamedParameter& p : other.parameters()) {
    Tensor value = p.variable.value();
    std::ranges::fill(value.values<float>(), 9.0f);
  }
  const Checkpoint read = load_checkpoint(file, other.parameters());
  EXPECT_EQ(read.state.at("state"), "{}");
  EXPECT_EQ(read.optimizer.at("x").values<float>()[1], 2);
  const nn::ParameterList a = task.parameters(), b = other.parameters();
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_TRUE(std::ranges::equal(a[i].variable.value().values<float>(), b[i].variable.value().values<float>()));
  }
}

TEST(Checkpoint, AFullDiskLeavesTheOneBefore) {
  const TempFolder folder;
  LineTask task;
  const std::filesystem::path file = folder / "c.safetensors";
  save_checkpoint(file, task.parameters(), {});
  const std::string before = read_bytes(file);
  // A file that may not grow says what a full disk says.
  rlimit old{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &old), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{100, old.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const std::string sentence = message_of([&] {
    save_checkpoint(file, task.parameters(), {{{"x", Tensor::zeros(DType::f32, 1000)}}, {}});
  });
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &old), 0);
  std::signal(SIGXFSZ, handler);
  EXPECT_NE(sentence.find(file.string()), std::string::npos) << sentence;
  EXPECT_EQ(read_bytes(file), before);
  EXPECT_EQ(folder.names(), std::vector<std::string>{"c.safetensors"});
}

}  // namespace
}  // namespace attn::train
