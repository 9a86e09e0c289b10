// SPDX-License-Identifier: Apache-2.0
#include <attn/attention.hpp>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>

#include "base/convert.hpp"
#include "gtest/gtest.h"
#include "support/protobuf.hpp"
#include "support/test_data.hpp"

// The ONNX project's own cases of its operator Attention (tests/data/onnx/README.md has their origin and rules).
namespace attn::test {
namespace {

namespace fs = std::filesystem;

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  return {std::istreambuf_iterator<char>(file), {}};
}

// A TensorProto: dims is field 1, data_type 2, raw_data 9.
struct OnnxTensor {
  DType dtype = DType::none;
  std::vector<std::ptrdiff_t> shape = {};
  std::string data = {};

  static OnnxTensor load(const fs::path& path) {
    const std::string bytes = read(path);
    const ProtoMessage message(bytes);
    const std::map<std::int64_t, DType> dtypes{{1, DType::f32}, {9, DType::boolean}, {10, DType::f16}};
    OnnxTensor tensor{.dtype = dtypes.at(message.integer(2)), .data = message.text(9)};
    for (const ProtoMessage::Field& dim : message.all(1))
      tensor.shape.push_back(static_cast<std::ptrdiff_t>(dim.value));
    return tensor;
  }
  static OnnxTensor like(const OnnxTensor& other) {
    return {.dtype = other.dtype, .shape = other.shape, .data = std::string(other.data.size(), '\xFF')};
  }
  std::size_t size() const { return data.size() / size_of(dtype); }

  // (batch, head, token, dim); of rank 3, (batch, token, head * dim), by strides alone.
  template <class Any, class Data>
  Any operand(std::ptrdiff_t heads, Data* at) const {
    if (shape.size() == 4) {
      const Extents<4> extents(shape[0], shape[1], shape[2], shape[3]);
      return Any(dtype, at, extents, row_major(extents));
    }
    const std::ptrdiff_t tokens = shape[1], dim = shape[2] / heads;
    return Any(dtype, at, {shape[0], heads, tokens, dim}, {tokens * shape[2], dim, shape[2], 1});
  }
  In<4> in(std::ptrdiff_t heads) const { return operand<In<4>>(heads, data.data()); }
  Out<4> out(std::ptrdiff_t heads) { return operand<Out<4>>(heads, data.data()); }
  // Broadcast from the right: dimensions that are absent count as 1.
  In<4> pairs() const {
    Extents<4> extents(1, 1, 1, 1);
    for (std::size_t d = 0; d < shape.size(); ++d) extents[static_cast<int>(4 - shape.size() + d)] = shape[d];
    return In<4>(dtype, data.data(), extents, row_major(extents));
  }
};

// The one node of a model: graph is field 7, its node field 1; of a node, output is field 2 and attribute 5; of an
// attribute, name is field 1, f 2 and i 3.
struct OnnxCase {
  fs::path folder;
  std::string model = read(folder / "model.onnx");
  ProtoMessage node = ProtoMessage(model).message(7).message(1);

  std::optional<ProtoMessage> attribute(const std::string& name) const {
    for (const ProtoMessage::Field& field : node.all(5)) {
      if (ProtoMessage message(field.bytes); message.text(1) == name) return message;
    }
    return std::nullopt;
  }
  std::int64_t integer(const std::string& name, std::int64_t otherwise) const {
    const auto found = attribute(name);
    return found ? found->integer(3) : otherwise;
  }
  std::optional<double> real(const std::string& name) const {
    const auto found = attribute(name);
    return found ? std::optional<double>(found->real(2)) : std::nullopt;
  }
  OnnxTensor tensor(const std::string& name) const {
    return OnnxTensor::load(folder / "test_data_set_0" / (name + ".pb"));
  }
  bool has(const std::string& name) const { return fs::exists(folder / "test_data_set_0" / (name + ".pb")); }
};

AttentionOptions options_of(const OnnxCase& c, const OnnxTensor& pairs) {
  // Without a cache, query 0 stands at key 0 in all opsets.
  AttentionOptions options{.align = Align::top_left(), .scale = c.real("scale")};
  if (const double cap = c.real("softcap").value_or(0); cap > 0) options.softcap = cap;
  if (c.integer("is_causal", 0) == 1) options.mask = Mask::causal();
  const auto side = [](std::int64_t size) { return size < 0 ? Mask::unbounded : size; };
  options.mask =
      options.mask & Mask::window(side(c.integer("left_window_size", -1)), side(c.integer("right_window_size", -1)));
  if (pairs.dtype == DType::boolean) options.mask = options.mask & Mask::keep(pairs.pairs());
  if (is_floating(pairs.dtype)) options.bias = pairs.pairs();
  return options;
}

// f32: 1e-6, where the suite allows 1e-3 of the value; f16: 1e-3, as its results are rounded to 2^-11 of theirs.
void expect_close(const OnnxTensor& found, const OnnxTensor& expected, const std::string& what) {
  const double tolerance = expected.dtype == DType::f16 ? 1e-3 : 1e-6;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const auto at = static_cast<std::ptrdiff_t>(i);
    const auto x = base::load_as<double>(found.dtype, found.data.data(), at);
    const auto y = base::load_as<double>(expected.dtype, expected.data.data(), at);
    if (x == y) continue;
    ASSERT_LE(std::abs(x - y), tolerance * std::max(1.0, std::abs(y))) << what << " at " << i << ": " << x << ", " << y;
  }
}

void run(const OnnxCase& c) {
  ASSERT_EQ(c.node.text(4), "Attention");
  ASSERT_FALSE(c.has("input_4")) << "a cache";
  const OnnxTensor q = c.tensor("input_0"), k = c.tensor("input_1"), v = c.tensor("input_2");
  const OnnxTensor pairs = c.has("input_3") ? c.tensor("input_3") : OnnxTensor{};
  const std::ptrdiff_t q_heads = c.integer("q_num_heads", 0), kv_heads = c.integer("kv_num_heads", 0);

  const OnnxTensor expected = c.tensor("output_0");
  OnnxTensor out = OnnxTensor::like(expected);
  AttentionOutputs outs{.out = out.out(q_heads)};
  OnnxTensor map;
  if (c.has("output_1")) {
    map = OnnxTensor::like(c.tensor("output_1"));
    const std::int64_t mode = c.integer("qk_matmul_output_mode", 0);
    (mode == 3 ? outs.weights : outs.scores) = map.out(q_heads);
    outs.score_stage = mode == 0 ? ScoreStage::scaled : mode == 1 ? ScoreStage::capped : ScoreStage::masked;
  }
  attention(q.in(q_heads), {k.in(kv_heads), v.in(kv_heads)}, outs, options_of(c, pairs));
  expect_close(out, expected, "Y");
  if (c.has("output_1")) expect_close(map, c.tensor("output_1"), "qk_matmul_output");
}

TEST(OnnxAttention, EveryCasePasses) {
  int count = 0;
  for (const auto& entry : fs::directory_iterator(test_data("onnx"))) {
    if (!entry.is_directory()) continue;
    SCOPED_TRACE(entry.path().filename().string());
    ASSERT_NO_THROW(run(OnnxCase{.folder = entry.path()}));
    ++count;
  }
  EXPECT_EQ(count, 55);
  std::cout << count << " ONNX Attention cases\n";
}

}  // namespace
}  // namespace attn::test
