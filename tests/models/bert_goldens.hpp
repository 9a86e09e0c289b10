// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <attn/io/safetensors.hpp>
#include <attn/models/token_batch.hpp>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/test_data.hpp"

// The expected values under tests/data/tiny_bert and tests/data/minilm; the READMEs there describe them.
namespace attn::test {

inline nlohmann::json read_json(const std::filesystem::path& file) {
  std::ifstream in(file);
  if (!in) throw std::runtime_error("cannot read " + file.string());
  return nlohmann::json::parse(in);
}

inline std::optional<std::string> text_or_none(const nlohmann::json& item, const char* key) {
  if (!item.contains(key) || item.at(key).is_null()) return std::nullopt;
  return item.at(key).get<std::string>();
}

inline const std::vector<std::string>& tiny_names() {
  static const std::vector<std::string> names{"relu_prefix", "silu_one_head", "gelu_new_bf16", "gelu_f16_types"};
  return names;
}

// Token ids of the rows of one case, padded to one width, and how many of each row are real.
struct TinyCase {
  std::string name;
  std::optional<std::string> text, second;
  std::vector<std::vector<std::int32_t>> ids = {}, types = {};
  std::vector<std::ptrdiff_t> lengths = {};

  std::ptrdiff_t width() const { return static_cast<std::ptrdiff_t>(ids.front().size()); }

  // The real tokens, end to end.
  models::TokenBatch packed() const {
    models::TokenBatch batch;
    for (std::size_t b = 0; b < ids.size(); ++b) {
      const auto n = static_cast<std::size_t>(lengths[b]);
      batch.add(std::span(ids[b]).first(n), std::span(types[b]).first(n));
    }
    return batch;
  }
};

inline std::vector<TinyCase> tiny_cases(const std::string& model) {
  std::vector<TinyCase> cases;
  const nlohmann::json index = read_json(test_data("tiny_bert/" + model + ".json"));
  for (const nlohmann::json& item : index.at("cases")) {
    TinyCase c{.name = item.at("name"), .text = text_or_none(item, "text"), .second = text_or_none(item, "second")};
    c.ids = item.at("ids").get<std::vector<std::vector<std::int32_t>>>();
    c.types = item.at("types").get<std::vector<std::vector<std::int32_t>>>();
    c.lengths = item.at("lengths").get<std::vector<std::ptrdiff_t>>();
    cases.push_back(std::move(c));
  }
  return cases;
}

struct MinilmCase {
  std::string name, text;
  std::optional<std::string> second;
  std::vector<std::int32_t> ids = {}, types = {};
  // Whose values are stored: hidden states, attention weights.
  std::vector<std::ptrdiff_t> rows = {}, attention_rows = {};
};

inline std::vector<MinilmCase> minilm_cases() {
  std::vector<MinilmCase> cases;
  const nlohmann::json index = read_json(test_data("minilm/cases.json"));
  for (const nlohmann::json& item : index.at("cases")) {
    MinilmCase c{.name = item.at("name"), .text = item.at("text"), .second = text_or_none(item, "second")};
    c.ids = item.at("ids").get<std::vector<std::int32_t>>();
    c.types = item.at("types").get<std::vector<std::int32_t>>();
    c.rows = item.at("rows").get<std::vector<std::ptrdiff_t>>();
    c.attention_rows = item.at("attention_rows").get<std::vector<std::ptrdiff_t>>();
    cases.push_back(std::move(c));
  }
  if (cases.size() != index.at("count").get<std::size_t>()) throw std::runtime_error("cases.json lacks cases");
  return cases;
}

inline std::vector<std::string> minilm_batch() {
  return read_json(test_data("minilm/cases.json")).at("batch").get<std::vector<std::string>>();
}

// The largest |a - b|; infinite when one is NaN, so that no comparison passes by accident.
inline double max_distance(std::span<const float> a, std::span<const float> b) {
  if (a.size() != b.size()) throw std::runtime_error("arrays of different sizes");
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double d = std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
    largest = std::isnan(d) ? HUGE_VAL : std::max(largest, d);
  }
  return largest;
}

// Row i of a contiguous tensor (rows, ...).
inline std::span<const float> row_of(const Tensor& tensor, std::ptrdiff_t i) {
  const std::ptrdiff_t width = tensor.size() / std::max<std::ptrdiff_t>(tensor.extent(0), 1);
  return tensor.values<float>().subspan(static_cast<std::size_t>(i * width), static_cast<std::size_t>(width));
}

}  // namespace attn::test
