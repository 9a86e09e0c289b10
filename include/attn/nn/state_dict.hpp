// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/context.hpp>
#include <attn/tensor.hpp>
#include <initializer_list>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace attn::nn {

// Parameters by name, as PyTorch's state_dict(): "encoder.layer.0.linear1.weight".
using StateDict = std::map<std::string, Tensor>;

// Takes a layer's parameters out of a state dict. What is wrong is collected, so that one error names every tensor that
// is missing or has another shape or dtype, of a layer and all layers within it.
class ATTN_API StateReader {
 public:
  // Names are looked up behind `prefix` ("layer.0." with its dot). The dict and the context must outlive the reader.
  explicit StateReader(const StateDict& state, std::string prefix = {}, Context& context = default_context());

  // The tensor, f32, f64, bf16 or f16 and of this shape; one that holds nothing when it is not so.
  Tensor take(const std::string& name, std::span<const std::ptrdiff_t> shape);
  Tensor take(const std::string& name, std::initializer_list<std::ptrdiff_t> shape) {
    return take(name, std::span<const std::ptrdiff_t>(shape.begin(), shape.size()));
  }
  bool contains(const std::string& name) const;
  // A reader of the names behind `prefix` that reports here.
  StateReader within(const std::string& prefix) const;
  // Reads a layer in this one, whose names stand behind "name.".
  template <class Layer>
  void within(const char* name, Layer& layer) const {
    StateReader inner = within(std::string(name) + ".");
    layer.read(inner);
  }
  // Where weights are packed, and by which threads.
  Context& context() const { return *context_; }
  // Adds a sentence to what is wrong.
  void report(std::string problem) { problems_->push_back(std::move(problem)); }
  // True while nothing is wrong.
  bool ok() const { return problems_->empty(); }
  // Throws Error with everything that was wrong.
  void finish() const;

 private:
  const StateDict* state_;
  std::string prefix_;
  Context* context_;
  std::shared_ptr<std::vector<std::string>> problems_;
};

// Reads all parameters of `layer`, or throws and leaves it as it was.
template <class Layer>
void load_state(Layer& layer, const StateDict& state, const std::string& prefix, Context& context) {
  Layer loaded = layer;
  StateReader reader(state, prefix, context);
  loaded.read(reader);
  reader.finish();
  layer = loaded;
}

}  // namespace attn::nn
