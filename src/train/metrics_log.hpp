// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/train/fit.hpp>
#include <filesystem>
#include <fstream>
#include <string>

namespace attn::train {

// metrics.jsonl: one JSON object a line, appended to as training goes.
class MetricsLog {
 public:
  // Keeps the lines up to `last_step`: what a run wrote after its last checkpoint is written again.
  MetricsLog(const std::filesystem::path& file, std::int64_t last_step);

  void step(const StepReport& report, double seconds);
  void scores(std::int64_t step, const std::vector<Score>& scores);

 private:
  void write(const std::string& line);
  std::filesystem::path file_;
  std::ofstream out_;
};

}  // namespace attn::train
