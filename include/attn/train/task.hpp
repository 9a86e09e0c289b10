// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/nn/dropout_stream.hpp>
#include <attn/nn/parameters.hpp>
#include <attn/train/batches.hpp>
#include <attn/train/recipe.hpp>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace attn::train {

// One part of the data.
enum class Part : std::uint8_t { train, validation, test };
ATTN_API std::string_view name_of(Part part) noexcept;

// A figure by which a model is judged; of several the first decides.
struct Score {
  std::string name;  // "accuracy", "perplexity"
  double value = 0;
  enum class Better : std::uint8_t { higher, lower } better = Better::higher;
  // Whether `a` beats `b`, both of this kind.
  bool beats(double other) const { return better == Better::higher ? value > other : value < other; }
};

// What a model made of an input, and where it looked meanwhile.
struct CrossAttention {
  std::string output;
  std::vector<std::string> source, target;  // tokens, each text with the mark of its end
  // (heads, target, source) f32, of the decoder's last layer: where each head looked to choose a token. Rows sum to 1.
  Tensor weights;
};

// A model and what it learns. Data are read when they are first needed; errors then name file and line.
class ATTN_API Task {
 public:
  virtual ~Task();
  virtual nn::ParameterList parameters() = 0;
  // Reads a part now, so that what is wrong with its files shows before any work.
  virtual void read(Part part) = 0;
  // Tokens of each training example.
  virtual std::span<const std::ptrdiff_t> lengths() = 0;
  // The mean loss of some training examples. The stream keys all that is random in the step; null: nothing is.
  virtual nn::Variable loss(const Batch& batch, nn::DropoutStream* dropout, Context& context) = 0;
  virtual std::vector<Score> evaluate(Part part, Context& context) = 0;
  // What the model makes of an input: a line of text, or for images a file with one (.npy, u8, height x width).
  virtual std::string predict(const std::string& input, Context& context) = 0;
  // The same, seen from inside. Throws Error unless the task is translation: no other model looks at a second text.
  virtual CrossAttention attend(const std::string& input, Context& context);
};

// The tokens and labels that a task knows; learned from the training part, and kept beside the weights.
struct Lexicon {
  std::vector<Vocabulary> vocabularies = {};
  std::vector<std::string> labels = {};
};
ATTN_API Lexicon learn_lexicon(const Recipe& recipe);
ATTN_API Lexicon load_lexicon(const std::filesystem::path& file);
ATTN_API void save_lexicon(const std::filesystem::path& file, const Lexicon& lexicon);

// A task with new weights. Throws Error for a lexicon that is of another task.
ATTN_API std::unique_ptr<Task> make_task(const Recipe& recipe, const Lexicon& lexicon);

}  // namespace attn::train
