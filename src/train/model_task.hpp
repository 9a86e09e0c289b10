// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <utility>

#include "base/concat.hpp"
#include "train/tasks.hpp"

namespace attn::train {

// What tasks have in common: a model that starts from the recipe's seed, and data of which each part is read when it is
// first needed. `Data` is a part as the task uses it.
template <class Model, class Data>
class ModelTask : public Task {
 public:
  nn::ParameterList parameters() final { return nn::parameters(model_); }
  void read(Part part) final { (void)data(part); }
  std::span<const std::ptrdiff_t> lengths() final { return lengths_ = lengths_of(data(Part::train)); }

 protected:
  ModelTask(const Recipe& recipe, Model model) : recipe_(recipe), model_(std::move(model)) {
    nn::initialise(model_, {.seed = recipe.training.seed});
  }

  virtual Data read_data(Part part) const = 0;
  // Tokens of each example.
  virtual std::vector<std::ptrdiff_t> lengths_of(const Data& data) const = 0;

  const Data& data(Part part) {
    const auto found = parts_.find(part);
    return found != parts_.end() ? found->second : parts_.emplace(part, read_data(part)).first->second;
  }
  // "train.jsonl" and so on, in the folder that script/data made.
  std::filesystem::path file_of(Part part, std::string_view ending) const {
    return recipe_.data / base::concat(name_of(part), ending);
  }

  const Recipe recipe_;
  Model model_;

 private:
  std::map<Part, Data> parts_;
  std::vector<std::ptrdiff_t> lengths_;
};

}  // namespace attn::train
