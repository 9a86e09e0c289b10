// SPDX-License-Identifier: Apache-2.0
#include "train/metrics_log.hpp"

#include <attn/error.hpp>
#include <attn/io/atomic_file.hpp>

#include "io/json.hpp"

namespace attn::train {
namespace {

// The lines of an earlier run up to a step. A line that was being written when the run ended is no JSON, and goes.
std::string kept_lines(const std::filesystem::path& file, std::int64_t last_step) {
  std::ifstream in(file);
  std::string kept;
  for (std::string line; std::getline(in, line);) {
    const nlohmann::json json = nlohmann::json::parse(line, nullptr, false);
    if (json.is_object() && json.value("step", last_step + 1) <= last_step) kept += line + '\n';
  }
  return kept;
}

}  // namespace

MetricsLog::MetricsLog(const std::filesystem::path& file, std::int64_t last_step) : file_(file) {
  io::AtomicFile kept(file);
  kept.write(kept_lines(file, last_step));
  kept.commit();
  out_.open(file, std::ios::app);
}

void MetricsLog::step(const StepReport& r, double seconds) {
  nlohmann::json json{{"step", r.step},           {"loss", r.loss},     {"learning_rate", r.learning_rate},
                      {"grad_norm", r.grad_norm}, {"tokens", r.tokens}, {"seconds", seconds}};
  if (r.loss_scale != 1) json.update({{"loss_scale", r.loss_scale}, {"is_skipped", r.is_skipped}});
  write(json.dump());
}

void MetricsLog::scores(std::int64_t step, const std::vector<Score>& scores) {
  nlohmann::json json{{"step", step}};
  for (const Score& score : scores) json["validation"][score.name] = score.value;
  write(json.dump());
}

void MetricsLog::write(const std::string& line) {
  out_ << line << '\n' << std::flush;
  if (!out_) throw Error(file_.string(), "", "cannot be written: the disk is full, or the file was taken away");
}

}  // namespace attn::train
