// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <attn/error.hpp>
#include <attn/train/metrics.hpp>
#include <fstream>
#include <nlohmann/json.hpp>

#include "support/test_data.hpp"

namespace attn::train {
namespace {

nlohmann::json golden() { return nlohmann::json::parse(std::ifstream(test::test_data("bleu.json"))); }

TEST(Bleu, CutsTextsAsSacrebleuDoes) {
  const nlohmann::json data = golden();  // named: a temporary would be gone before its first item is read
  for (const auto& item : data.at("tokens")) {
    const std::string text = item.at("text");
    EXPECT_EQ(bleu_tokens(text), item.at("tokens").get<std::vector<std::string>>()) << text;
  }
}

TEST(Bleu, ScoresAsSacrebleuDoes) {
  const nlohmann::json data = golden();
  for (const auto& item : data.at("scores")) {
    const std::vector<std::string> hypotheses = item.at("hypotheses"), references = item.at("references");
    EXPECT_NEAR(bleu(hypotheses, references), item.at("bleu").get<double>(), 1e-10) << hypotheses[0];
  }
}

TEST(Bleu, RefusesAnotherNumberOfTexts) {
  const std::vector<std::string> one{"a"};
  EXPECT_THROW(bleu(one, {}), Error);
  EXPECT_EQ(bleu({}, {}), 0);
}

}  // namespace
}  // namespace attn::train
