// SPDX-License-Identifier: Apache-2.0
// What script/data makes, read into memory; docs/data.md describes the files. Errors name file, line, what was expected
// and what was found; a file without any example is one.
#pragma once

#include <attn/tensor.hpp>
#include <filesystem>
#include <string>
#include <vector>

namespace attn::train {

// Grey images and what they show.
struct Images {
  Tensor pixels;                     // (count, height, width), u8
  std::vector<std::int32_t> labels;  // one an image, 0 or more
  std::ptrdiff_t count() const { return std::ssize(labels); }
};
// FOLDER/PART.images.npy and FOLDER/PART.labels.npy. Throws Error unless every label is below `classes`.
ATTN_API Images read_images(const std::filesystem::path& folder, std::string_view part, std::int32_t classes);

// A text and the number of its class.
struct LabelledText {
  std::string text;
  std::int32_t label = 0;
};
// Lines {"text": "...", "label": 1}. Throws Error unless every label is 0 or more and below `classes`.
ATTN_API std::vector<LabelledText> read_labelled(const std::filesystem::path& file, std::int32_t classes);

struct TaggedText {
  std::vector<std::string> tokens, tags;  // of the same length
};
// Lines {"tokens": [...], "tags": [...]}.
ATTN_API std::vector<TaggedText> read_tagged(const std::filesystem::path& file);

// A text and what it is to become, as its translation.
struct TextPair {
  std::string source, target;
};
// Lines {"source": "...", "target": "..."}, whose other members are left alone.
ATTN_API std::vector<TextPair> read_pairs(const std::filesystem::path& file);

// The lines of a text, without their ends.
ATTN_API std::vector<std::string> read_text(const std::filesystem::path& file);

}  // namespace attn::train
