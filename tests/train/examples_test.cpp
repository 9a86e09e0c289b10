// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <attn/io/npy.hpp>
#include <attn/train/examples.hpp>

#include "io/files.hpp"

namespace attn::train {
namespace {

using io::test::message_of;
using io::test::TempFolder;
using io::test::write_bytes;

TEST(Examples, ReadsWhatTheScriptMakes) {
  const TempFolder folder;
  write_bytes(folder / "a.jsonl", "{\"text\": \"\xE4\xB8\xAD\", \"label\": 1}\n{\"text\": \"\", \"label\": 0}\n");
  const std::vector<LabelledText> labelled = read_labelled(folder / "a.jsonl", 2);
  ASSERT_EQ(labelled.size(), 2u);
  EXPECT_EQ(labelled[0].text, "\xE4\xB8\xAD");
  EXPECT_EQ(labelled[0].label, 1);
  write_bytes(folder / "b.jsonl", R"({"tokens": ["a", "b"], "tags": ["n", "v"]})");
  EXPECT_EQ(read_tagged(folder / "b.jsonl")[0].tags, (std::vector<std::string>{"n", "v"}));
  write_bytes(folder / "c.jsonl", R"({"key": "Genesis 1:1", "source": "s", "target": "t"})");
  EXPECT_EQ(read_pairs(folder / "c.jsonl")[0].target, "t");
  write_bytes(folder / "d.txt", "one\n\ntwo");
  EXPECT_EQ(read_text(folder / "d.txt"), (std::vector<std::string>{"one", "", "two"}));
}

TEST(Examples, ReadsImages) {
  const TempFolder folder;
  Tensor pixels = Tensor::zeros(DType::u8, 2, 28, 28), labels = Tensor::of<std::uint8_t>({3, 9}, 2);
  io::write_npy(folder / "train.images.npy", pixels);
  io::write_npy(folder / "train.labels.npy", labels);
  const Images images = read_images(folder.path(), "train", 10);
  EXPECT_EQ(images.count(), 2);
  EXPECT_EQ(images.labels, (std::vector<std::int32_t>{3, 9}));
  EXPECT_EQ(message_of([&] { read_images(folder.path(), "train", 9); }),
            (folder / "train.labels.npy").string() + ": [1]: label 9, expected 0 to 8");
  io::write_npy(folder / "train.labels.npy", Tensor::of<std::uint8_t>({3}, 1));
  EXPECT_EQ(message_of([&] { read_images(folder.path(), "train", 10); }),
            (folder / "train.labels.npy").string() + ": u8 of shape (1), expected u8 of shape (2)");
}

TEST(Examples, NamesFileAndLine) {
  const TempFolder folder;
  const std::string file = (folder / "x.jsonl").string();
  const auto refused = [&](const std::string& text, auto read) {
    write_bytes(file, text);
    return message_of([&] { read(file); });
  };
  const auto labelled = [](const std::string& from) { read_labelled(from, 2); };
  const auto tagged = [](const std::string& from) { read_tagged(from); };
  EXPECT_EQ(refused("", labelled), file + ": no examples, expected one or more");
  EXPECT_EQ(refused("{\"text\": \"a\", \"label\": 0}\n{\"text\": \"a\", \"label\": 2}\n", labelled),
            file + ":2: \"label\": 2, expected at most 1");
  EXPECT_EQ(refused(R"({"tokens": ["a"], "tags": []})", tagged), file + ":1: 0 tags, expected 1, one for each token");
  EXPECT_EQ(refused(R"({"tokens": [], "tags": []})", tagged), file + ":1: no tokens, expected one or more");
  EXPECT_EQ(refused("{]", tagged), file + ":1: not valid JSON at byte 1, where \"]\" stands");
}

}  // namespace
}  // namespace attn::train
