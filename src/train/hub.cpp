// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <attn/error.hpp>
#include <attn/io/atomic_file.hpp>
#include <attn/io/safetensors.hpp>
#include <attn/train/hub.hpp>
#include <map>

#include "base/concat.hpp"
#include "io/json.hpp"
#include "train/hub_code.hpp"
#include "train/hub_tokens.hpp"

namespace attn::train {
namespace {

using base::concat;
using Tensors = std::map<std::string, Tensor>;

// The model's weights, taken by name, each of which must be there.
class Weights {
 public:
  explicit Weights(const nn::ParameterList& parameters) {
    for (const nn::NamedParameter& parameter : parameters) {
      tensors_.emplace(parameter.name, parameter.variable.value().to(DType::f32));
    }
  }
  bool contains(const std::string& name) const { return tensors_.count(name) > 0; }
  const Tensor& at(const std::string& name) const {
    const auto found = tensors_.find(name);
    if (found != tensors_.end()) return found->second;
    throw Error("export_hub", "parameters", concat("no tensor \"", name, "\", expected those of a text encoder"));
  }

 private:
  Tensors tensors_;
};

// Rows first ... first + count - 1, or that many numbers, as a tensor of their own.
Tensor rows_of(const Tensor& tensor, std::ptrdiff_t first, std::ptrdiff_t count) {
  const std::ptrdiff_t width = tensor.rank() == 2 ? tensor.extent(1) : 1;
  Tensor rows = tensor.rank() == 2 ? Tensor::empty(DType::f32, count, width) : Tensor::empty(DType::f32, count);
  std::copy_n(tensor.values<float>().data() + first * width, count * width, rows.values<float>().data());
  return rows;
}

void add_pair(const Weights& weights, const std::string& from, const std::string& to, Tensors& tensors) {
  for (const char* part : {".weight", ".bias"}) tensors.emplace(to + part, weights.at(from + part));
}

// PyTorch's names and its one projection for queries, keys and values become BERT's.
void add_layer(const Weights& weights, const std::string& from, const std::string& to, std::ptrdiff_t width,
               Tensors& tensors) {
  const char* const projections[] = {"query", "key", "value"};
  for (std::ptrdiff_t i = 0; i < 3; ++i) {
    const std::string name = concat(to, "attention.self.", projections[i]);
    tensors.emplace(name + ".weight", rows_of(weights.at(from + "self_attn.in_proj_weight"), i * width, width));
    tensors.emplace(name + ".bias", rows_of(weights.at(from + "self_attn.in_proj_bias"), i * width, width));
  }
  add_pair(weights, from + "self_attn.out_proj", to + "attention.output.dense", tensors);
  add_pair(weights, from + "norm1", to + "attention.output.LayerNorm", tensors);
  add_pair(weights, from + "linear1", to + "intermediate.dense", tensors);
  add_pair(weights, from + "linear2", to + "output.dense", tensors);
  add_pair(weights, from + "norm2", to + "output.LayerNorm", tensors);
}

Tensors hub_tensors(const Recipe& recipe, const Lexicon& lexicon, const HubStreams& streams, const Weights& weights) {
  const auto table = [&](std::size_t stream) -> const Tensor& {
    return weights.at(stream == 0 ? "embeddings.tokens.weight" : concat("tables.", stream, ".weight"));
  };
  const std::string embeddings = "bert.embeddings.";
  Tensors tensors{{embeddings + "word_embeddings.weight",
                   hub_words(streams, lexicon.vocabularies, table(streams.whole), table(streams.part))},
                  {embeddings + "token_type_embeddings.weight", table(streams.type)},
                  {embeddings + "position_embeddings.weight", weights.at("embeddings.positions.weight")}};
  add_pair(weights, "norm", embeddings + "LayerNorm", tensors);
  for (std::ptrdiff_t i = 0; i < recipe.model.layers; ++i) {
    add_layer(weights, concat("encoder.layers.", i, '.'), concat("bert.encoder.layer.", i, '.'), recipe.model.width,
              tensors);
  }
  add_pair(weights, "classifier", "classifier", tensors);
  return tensors;
}

nlohmann::json hub_config(const Recipe& recipe, const Lexicon& lexicon, const Tensors& tensors) {
  const auto rows = [&](const char* name) { return tensors.at(concat("bert.embeddings.", name, ".weight")).extent(0); };
  nlohmann::json config{{"architectures", {"BertForTokenClassification"}},
                        {"model_type", "bert"},
                        {"vocab_size", rows("word_embeddings")},
                        {"type_vocab_size", rows("token_type_embeddings")},
                        {"max_position_embeddings", rows("position_embeddings")},
                        {"hidden_size", recipe.model.width},
                        {"num_hidden_layers", recipe.model.layers},
                        {"num_attention_heads", recipe.model.heads},
                        {"intermediate_size", recipe.model.feedforward},
                        {"hidden_act", "gelu"},
                        {"layer_norm_eps", 1e-5},
                        {"hidden_dropout_prob", recipe.model.dropout},
                        {"attention_probs_dropout_prob", recipe.model.dropout},
                        {"pad_token_id", Vocabulary::kPadding}};
  for (std::size_t i = 0; i < lexicon.labels.size(); ++i) {
    config["id2label"][std::to_string(i)] = lexicon.labels[i];
    config["label2id"][lexicon.labels[i]] = i;
  }
  if (recipe.task == TaskKind::reviews) {
    config["architectures"] = {"TextClassifier"};
    config["auto_map"]["AutoModelForSequenceClassification"] = "attn_hub.TextClassifier";
  }
  return config;
}

nlohmann::json hub_tokenizer_config(const Recipe& recipe) {
  return {{"tokenizer_class", "AttnTokenizer"},
          {"auto_map", {{"AutoTokenizer", {"attn_hub.AttnTokenizer", nullptr}}}},
          {"model_max_length", recipe.model.max_tokens},
          {"pad_token", "<pad>"},
          {"unk_token", "<unk>"}};
}

std::string hub_readme(const Recipe& recipe) {
  const std::string pipeline = recipe.task == TaskKind::reviews ? "text-classification" : "token-classification";
  return concat(
      "# A text encoder trained by attn: ", name_of(recipe.task),
      "\n\n    from transformers import pipeline\n\n    ask = pipeline(\"", pipeline,
      "\", \"this/folder\", trust_remote_code=True)\n"
      "    ask(\"...\")\n\n"
      "The network is a plain BERT, whose weights load without trust in any code. `attn_hub.py` reads texts: a\n"
      "token has two numbers, `input_ids` and `token_type_ids`, which tell it in its context.\n");
}

void write_text(const std::filesystem::path& file, std::string_view text) {
  io::AtomicFile out(file);
  out.write(text);
  out.commit();
}

}  // namespace

void export_hub(const std::filesystem::path& folder, const Recipe& recipe, const Lexicon& lexicon,
                const nn::ParameterList& parameters) {
  if (recipe.task != TaskKind::reviews && recipe.task != TaskKind::tagging && recipe.task != TaskKind::entities) {
    throw Error("export_hub", "task", concat(name_of(recipe.task), ", expected reviews, tagging or entities"));
  }
  const HubStreams streams(recipe.tokens.kind);
  const Tensors tensors = hub_tensors(recipe, lexicon, streams, Weights(parameters));
  std::filesystem::create_directories(folder);
  write_text(folder / "attn_hub.py", kHubCode);
  write_text(folder / "README.md", hub_readme(recipe));
  write_text(folder / "tokenizer_config.json", hub_tokenizer_config(recipe).dump(2) + '\n');
  write_text(folder / "tokenizer.json", hub_tokenizer(streams, lexicon.vocabularies).dump() + '\n');
  write_text(folder / "config.json", hub_config(recipe, lexicon, tensors).dump(2) + '\n');
  io::write_safetensors(folder / "model.safetensors", tensors, {{"format", "pt"}});
}

}  // namespace attn::train
