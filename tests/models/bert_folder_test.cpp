// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <attn/error.hpp>
#include <attn/models.hpp>
#include <functional>

#include "io/files.hpp"
#include "models/bert_goldens.hpp"

// Model folders that are wrong in one place each, and the sentence each gives.
namespace attn::models {
namespace {

using io::test::message_of;
using io::test::TempFolder;
using io::test::write_bytes;
using Tensors = std::map<std::string, Tensor>;

Tensors read_all(const std::filesystem::path& file) {
  const auto stored = io::SafeTensors::open(file);
  Tensors tensors;
  for (const std::string& name : stored.names()) tensors[name] = stored.tensor(name);
  return tensors;
}

// A copy of a tiny model that a test may spoil.
class Folder {
 public:
  explicit Folder(const std::string& model) {
    for (const auto& entry : std::filesystem::directory_iterator(test::test_data("tiny_bert/" + model))) {
      std::filesystem::copy_file(entry.path(), temporary_ / entry.path().filename().string());
    }
  }
  std::string operator/(const std::string& name) const { return (temporary_ / name).string(); }
  std::string path() const { return temporary_.path().string(); }
  void write(const std::string& name, const std::string& bytes) const {
    std::filesystem::create_directories((temporary_ / name).parent_path());
    write_bytes(temporary_ / name, bytes);
  }
  void remove(const std::string& name) const { std::filesystem::remove(temporary_ / name); }
  void change_tensors(const std::function<void(Tensors&)>& change) const {
    Tensors tensors = read_all(temporary_ / "model.safetensors");
    change(tensors);
    io::write_safetensors(temporary_ / "model.safetensors", tensors);
  }
  void change_config(const std::string& key, const nlohmann::json& value) const {
    nlohmann::json config = test::read_json(temporary_ / "config.json");
    config[key] = value;
    write("config.json", config.dump());
  }
  // Message with the folder's own path taken out.
  std::string message() const {
    std::string text = message_of([&] { (void)load(temporary_.path()); });
    for (std::size_t at = text.find(path() + "/"); at != std::string::npos; at = text.find(path() + "/")) {
      text.erase(at, path().size() + 1);
    }
    return text;
  }

 private:
  TempFolder temporary_;
};

Tensor hidden_of(const BertModel& model) {
  TokenBatch batch;
  batch.add(std::vector<std::int32_t>{2, 7, 8, 3});
  return model.forward(batch);
}

const std::string kQuery = "encoder.layer.1.attention.self.query.weight";

TEST(BertFolder, NamesTheTensorThatIsWrong) {
  struct Mutation {
    const char* what;
    std::function<void(Tensors&)> change;
    const char* sentence;
  };
  const Mutation mutations[] = {
      {"absent", [](Tensors& t) { t.erase(kQuery); },
       "model.safetensors: tensor \"encoder.layer.1.attention.self.query.weight\": absent"},
      {"misshapen", [](Tensors& t) { t[kQuery] = Tensor::zeros(DType::f32, 24, 23); },
       "model.safetensors: tensor \"encoder.layer.1.attention.self.query.weight\": shape (24, 23), expected (24, 24)"},
      {"transposed", [](Tensors& t) { t["encoder.layer.0.output.dense.weight"] = Tensor::zeros(DType::f32, 64, 24); },
       "model.safetensors: tensor \"encoder.layer.0.output.dense.weight\": shape (64, 24), expected (24, 64)"},
      {"integers", [](Tensors& t) { t[kQuery] = Tensor::zeros(DType::i64, 24, 24); },
       "model.safetensors: tensor \"encoder.layer.1.attention.self.query.weight\": dtype I64, expected F32, F64, BF16 "
       "or F16"},
      {"a vocabulary of another size",
       [](Tensors& t) { t["embeddings.word_embeddings.weight"] = Tensor::zeros(DType::f32, 97, 24); },
       "model.safetensors: tensor \"embeddings.word_embeddings.weight\": shape (97, 24), expected (98, 24)"},
      {"no layer norm", [](Tensors& t) { t.erase("embeddings.LayerNorm.weight"); },
       "model.safetensors: tensor \"embeddings.LayerNorm.weight\": absent"},
      {"no words", [](Tensors& t) { t.erase("embeddings.word_embeddings.weight"); },
       "model.safetensors: tensor \"embeddings.word_embeddings.weight\": absent"},
  };
  for (const Mutation& m : mutations) {
    const Folder folder("silu_one_head");
    folder.change_tensors(m.change);
    EXPECT_EQ(folder.message().substr(0, std::string(m.sentence).size()), m.sentence) << m.what;
  }
}

TEST(BertFolder, NamesTheFileThatIsWrong) {
  struct Mutation {
    const char* what;
    std::function<void(const Folder&)> change;
    const char* start;  // of the sentence
  };
  const Mutation mutations[] = {
      {"another model", [](const Folder& f) { f.change_config("model_type", "gpt2"); },
       "config.json: \"model_type\": \"gpt2\", expected \"bert\""},
      {"more layers than tensors", [](const Folder& f) { f.change_config("num_hidden_layers", 2000000000); },
       "model.safetensors: tensor \"encoder.layer.2.attention.self.query.weight\": absent"},
      {"a size that fits no machine", [](const Folder& f) { f.change_config("intermediate_size", 2147483647); },
       "model.safetensors: tensor \"encoder.layer.0.intermediate.dense.weight\": shape"},
      {"no config", [](const Folder& f) { f.remove("config.json"); }, "config.json: "},
      {"config is a list", [](const Folder& f) { f.write("config.json", "[1]"); }, "config.json: "},
      {"config is cut off", [](const Folder& f) { f.write("config.json", "{\"model_type\": "); },
       "config.json: not valid JSON"},
      {"another tokenizer", [](const Folder& f) { f.write("tokenizer.json", R"({"model": {"type": "BPE"}})"); },
       "tokenizer.json: "},
      {"a token that the model lacks",
       [](const Folder& f) {
         f.write("tokenizer.json", R"({"model": {"type": "WordPiece", "vocab": {"[UNK]": 0, "new": 98}}})");
       },
       "tokenizer.json: a token has the id 98, expected ids below the 98 of \"vocab_size\" in config.json"},
      {"an added token that the model lacks",
       [](const Folder& f) {
         f.write("tokenizer.json", R"({"added_tokens": [{"id": 200, "content": "<new>", "special": true}],
                                       "model": {"type": "WordPiece", "vocab": {"[UNK]": 0}}})");
       },
       "tokenizer.json: a token has the id 200, expected ids below the 98"},
      {"weights cut off", [](const Folder& f) { f.write("model.safetensors", "abc"); }, "model.safetensors: "},
      {"length of texts is a word",
       [](const Folder& f) { f.write("sentence_bert_config.json", R"({"max_seq_length": "no"})"); },
       "sentence_bert_config.json: \"max_seq_length\": found a string, expected an integer"},
      {"length of texts is 0",
       [](const Folder& f) { f.write("sentence_bert_config.json", R"({"max_seq_length": 0})"); },
       "sentence_bert_config.json: \"max_seq_length\": 0, expected at least 1"},
      {"modules are no list", [](const Folder& f) { f.write("modules.json", R"({"type": "Pooling"})"); },
       "modules.json: "},
      {"a module outside",
       [](const Folder& f) { f.write("modules.json", R"([{"type": "a.Pooling", "path": "../x"}])"); },
       "modules.json: \"[0].path\": \"../x\", expected a folder inside the model's"},
      {"a module without a folder",
       [](const Folder& f) { f.write("modules.json", R"([{"type": "a.Pooling", "path": ""}])"); },
       "modules.json: \"[0].path\": \"\", expected a folder inside the model's"},
  };
  for (const Mutation& m : mutations) {
    const Folder folder("silu_one_head");
    m.change(folder);
    EXPECT_EQ(folder.message().substr(0, std::string(m.start).size()), m.start) << m.what;
  }
  EXPECT_NE(message_of([] { (void)load("/nowhere/at/all"); }).find("/nowhere/at/all"), std::string::npos);
}

TEST(BertFolder, PickledWeightsAreRefusedWithTheWayOut) {
  const Folder folder("silu_one_head");
  folder.remove("model.safetensors");
  folder.write("pytorch_model.bin", "PK");
  const std::string message = folder.message();
  EXPECT_NE(message.find("pytorch_model.bin"), std::string::npos) << message;
  EXPECT_NE(message.find("safetensors"), std::string::npos) << message;
}

TEST(BertFolder, NamesOfEveryAgeGiveTheSameModel) {
  const Folder plain("silu_one_head"), renamed("silu_one_head");
  renamed.change_tensors([](Tensors& tensors) {
    Tensors with_prefix;
    for (auto& [name, tensor] : tensors) {
      std::string old = "bert." + name;
      const std::pair<std::string, std::string> norms[] = {{"LayerNorm.weight", "LayerNorm.gamma"},
                                                           {"LayerNorm.bias", "LayerNorm.beta"}};
      for (const auto& [now, then] : norms) {
        if (old.ends_with(now)) old.replace(old.size() - now.size(), now.size(), then);
      }
      with_prefix[old] = tensor;
    }
    with_prefix["cls.seq_relationship.weight"] = Tensor::zeros(DType::f32, 2, 24);
    with_prefix["bert.embeddings.position_ids"] = Tensor::zeros(DType::i64, 1, 32);
    tensors = std::move(with_prefix);
  });
  const Tensor a = hidden_of(load(plain.path())), b = hidden_of(load(renamed.path()));
  EXPECT_EQ(test::max_distance(a.values<float>(), b.values<float>()), 0);
}

TEST(BertFolder, ShardedWeightsGiveTheSameModel) {
  const Folder whole("silu_one_head"), parts("silu_one_head");
  Tensors tensors = read_all(parts / "model.safetensors"), shards[2];
  nlohmann::json index{{"weight_map", nlohmann::json::object()}};
  std::size_t i = 0;
  for (const auto& [name, tensor] : tensors) {
    const std::size_t shard = i++ % 2;
    shards[shard][name] = tensor;
    index["weight_map"][name] = "part-" + std::to_string(shard) + ".safetensors";
  }
  for (std::size_t shard = 0; shard < 2; ++shard) {
    io::write_safetensors(parts / ("part-" + std::to_string(shard) + ".safetensors"), shards[shard]);
  }
  parts.write("model.safetensors.index.json", index.dump());
  parts.remove("model.safetensors");
  const Tensor a = hidden_of(load(whole.path())), b = hidden_of(load(parts.path()));
  EXPECT_EQ(test::max_distance(a.values<float>(), b.values<float>()), 0);
}

}  // namespace
}  // namespace attn::models
