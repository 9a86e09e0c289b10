// SPDX-License-Identifier: Apache-2.0
#include <attn/draw/line_plot.hpp>
#include <attn/error.hpp>
#include <attn/train/examples.hpp>
#include <attn/train/loss_curve.hpp>
#include <cmath>
#include <optional>

#include "io/json.hpp"

namespace attn::train {
namespace {

constexpr std::size_t kMostPoints = 200;

// The mean loss of the validation part, in the unit of the training loss.
std::optional<double> validation_loss(const nlohmann::json& scores) {
  if (scores.contains("loss")) return scores.at("loss").get<double>();
  if (scores.contains("perplexity")) return std::log(scores.at("perplexity").get<double>());
  return std::nullopt;
}

draw::Line thinned(const draw::Line& line) {
  const std::size_t stretch = (line.x.size() + kMostPoints - 1) / kMostPoints;
  draw::Line result{{}, {}, line.name};
  for (std::size_t first = 0; first < line.x.size(); first += stretch) {
    const std::size_t last = std::min(first + stretch, line.x.size());
    double sum = 0;
    for (std::size_t i = first; i < last; ++i) sum += line.y[i];
    result.x.push_back(line.x[last - 1]);
    result.y.push_back(sum / static_cast<double>(last - first));
  }
  return result;
}

}  // namespace

std::string loss_curve(const std::filesystem::path& metrics, draw::FigureFormat format, const std::string& title) {
  draw::Line training{{}, {}, "training"}, validation{{}, {}, "validation"};
  for (const std::string& line : read_text(metrics)) {
    const nlohmann::json json = io::parse_json(metrics.string(), "", line);
    if (json.contains("loss")) {
      training.x.push_back(json.at("step"));
      training.y.push_back(json.at("loss"));
    } else if (const auto loss = validation_loss(json.at("validation"))) {
      validation.x.push_back(json.at("step"));
      validation.y.push_back(*loss);
    }
  }
  if (training.x.empty()) throw Error(metrics.string(), "", "no steps, expected one or more");
  std::vector<draw::Line> lines{thinned(training)};
  if (!validation.x.empty()) lines.push_back(std::move(validation));
  return draw::line_plot(lines, format, {.title = title, .x_title = "step", .y_title = "loss"});
}

}  // namespace attn::train
