// SPDX-License-Identifier: Apache-2.0
#include <attn/io/safetensors.hpp>

#include "io/files.hpp"

namespace attn::io {
namespace {

using namespace attn::io::test;

std::string message(const std::filesystem::path& folder) {
  return message_of([&] { (void)SafeTensors::open_model(folder); });
}

TEST(OpenModel, OneFile) {
  TempFolder folder;
  write_safetensors(folder / "model.safetensors", {{"w", Tensor::of<float>({1, 2}, 2)}});
  EXPECT_EQ(SafeTensors::open_model(folder.path()).names(), std::vector<std::string>{"w"});
}

TEST(OpenModel, ShardsAreOneSetOfNames) {
  TempFolder folder;
  write_safetensors(folder / "model-1.safetensors", {{"b", Tensor::of<float>({1}, 1)}}, {{"format", "pt"}});
  write_safetensors(folder / "model-2.safetensors",
                    {{"a", Tensor::of<float>({2}, 1)}, {"not listed", Tensor::of<float>({3}, 1)}}, {{"part", "2"}});
  write_bytes(folder / "model.safetensors.index.json",
              R"({"metadata":{"total_size":8},"weight_map":{"b":"model-1.safetensors","a":"model-2.safetensors"}})");
  const SafeTensors model = SafeTensors::open_model(folder.path());
  EXPECT_EQ(model.names(), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(values_of<float>(model.tensor("a")), std::vector<float>{2});
  EXPECT_EQ(values_of<float>(model.tensor("b")), std::vector<float>{1});
  EXPECT_EQ(model.metadata(), (std::map<std::string, std::string>{{"format", "pt"}, {"part", "2"}}));
  // Messages name the index for an absent tensor and the shard for a wrong one.
  const std::string here = folder.path().string();
  EXPECT_EQ(message_of([&] { (void)model.info("zzz"); }),
            here + "/model.safetensors.index.json: tensor \"zzz\": absent");
  EXPECT_EQ(message_of([&] { (void)model.tensor("a", {5}); }),
            here + "/model-2.safetensors: tensor \"a\": shape (1), expected (5)");
}

TEST(OpenModel, SaysWhatIsWrongWithTheIndex) {
  TempFolder folder;
  const std::string here = folder.path().string(), index = here + "/model.safetensors.index.json";
  write_safetensors(folder / "m.safetensors", {{"a", Tensor::of<float>({1}, 1)}});
  const auto with = [&](const std::string& json) {
    write_bytes(index, json);
    return message(folder.path());
  };
  EXPECT_EQ(with("{"), index + ": not valid JSON at byte 1, where it ends");
  EXPECT_EQ(with(""), index + ": not valid JSON at byte 0, where it ends");
  EXPECT_EQ(with("[]"), index + ": has no weight_map, expected an object of tensor and file names");
  EXPECT_EQ(with(R"({"weight_map":[]})"), index + ": has no weight_map, expected an object of tensor and file names");
  EXPECT_EQ(with(R"({"weight_map":{"a":3}})"), index + ": tensor \"a\": in 3, expected a file beside the index");
  EXPECT_EQ(with(R"({"weight_map":{"a":"../m.safetensors"}})"),
            index + ": tensor \"a\": in \"../m.safetensors\", expected a file beside the index");
  EXPECT_EQ(with(R"({"weight_map":{"a":"/etc/passwd"}})"),
            index + ": tensor \"a\": in \"/etc/passwd\", expected a file beside the index");
  EXPECT_EQ(with(R"({"weight_map":{"a":"no.safetensors"}})"), here + "/no.safetensors: no such file");
  EXPECT_EQ(with(R"({"weight_map":{"b":"m.safetensors"}})"),
            here + "/m.safetensors: tensor \"b\": absent, expected by the index " + index);
}

TEST(OpenModel, SaysWhatTheFolderLacks) {
  TempFolder folder;
  const std::string here = folder.path().string();
  EXPECT_EQ(message(folder / "no"), here + "/no: no such folder");
  EXPECT_EQ(message(folder.path()), here + ": holds neither model.safetensors nor model.safetensors.index.json");
  write_bytes(folder / "pytorch_model.bin", "PK");
  EXPECT_EQ(message(folder / "pytorch_model.bin"), here + "/pytorch_model.bin: is a file, expected a model folder");
  const std::string refused = message(folder.path());
  EXPECT_EQ(refused.find(here + "/pytorch_model.bin: is a Python pickle, expected model.safetensors beside it"), 0u);
  EXPECT_NE(refused.find("from safetensors.torch import save_file"), std::string::npos);
  write_safetensors(folder / "model.safetensors", {});
  EXPECT_EQ(message(folder.path()), "no error");
}

}  // namespace
}  // namespace attn::io
