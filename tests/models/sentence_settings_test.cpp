// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <attn/models/sentence_settings.hpp>

#include "io/files.hpp"

namespace attn::models {
namespace {

constexpr const char* kModules = R"([
  {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
  {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
  {"idx": 2, "name": "2", "path": "2_Normalize", "type": "sentence_transformers.models.Normalize"}])";

SentenceSettings read(const std::string& modules, const std::string& pooling) {
  const io::test::TempFolder folder;
  std::filesystem::create_directory(folder / "1_Pooling");
  io::test::write_bytes(folder / "modules.json", modules);
  io::test::write_bytes(folder / "1_Pooling/config.json", pooling);
  SentenceSettings settings = read_sentence_settings(folder.path());
  if (!settings.refused.empty()) settings.refused.erase(0, folder.path().string().size() + 1);
  return settings;
}

TEST(SentenceSettings, AreMeanPoolingWithoutFiles) {
  const io::test::TempFolder folder;
  const SentenceSettings settings = read_sentence_settings(folder.path());
  EXPECT_EQ(settings.pooling, Pooling::mean);
  EXPECT_FALSE(settings.max_seq_length.has_value());
  EXPECT_EQ(settings.refused, "");
}

TEST(SentenceSettings, ReadThePooling) {
  const SentenceSettings mean =
      read(kModules,
           R"({"word_embedding_dimension": 384, "pooling_mode_cls_token": false, "pooling_mode_mean_tokens": true})");
  EXPECT_EQ(mean.pooling, Pooling::mean);
  EXPECT_EQ(mean.refused, "");
  EXPECT_EQ(read(kModules, R"({"pooling_mode_cls_token": true, "pooling_mode_mean_tokens": false})").pooling,
            Pooling::cls);
  EXPECT_EQ(read(kModules, R"({"pooling_mode": "cls"})").pooling, Pooling::cls);
}

TEST(SentenceSettings, TellWhatIsNotDone) {
  EXPECT_EQ(read(kModules, R"({"pooling_mode_max_tokens": true})").refused,
            R"(1_Pooling/config.json: pooling by "max_tokens", expected "mean" or "cls")");
  EXPECT_EQ(read(kModules, R"({"pooling_mode_cls_token": true, "pooling_mode_mean_tokens": true})").refused,
            R"(1_Pooling/config.json: pooling by "cls_token and mean_tokens", expected "mean" or "cls")");
  EXPECT_EQ(read(kModules, "{}").refused, R"(1_Pooling/config.json: pooling by "nothing", expected "mean" or "cls")");
  EXPECT_EQ(read(R"([{"path": "2_Dense", "type": "sentence_transformers.models.Dense"}])", "{}").refused,
            R"(modules.json: module "Dense", expected "Transformer", "Pooling" or "Normalize")");
}

}  // namespace
}  // namespace attn::models
