// SPDX-License-Identifier: Apache-2.0
#include <attn/error.hpp>
#include <attn/io/npy.hpp>
#include <attn/train/examples.hpp>

#include "base/concat.hpp"
#include "io/json.hpp"
#include "io/json_field.hpp"
#include "io/mapped_file.hpp"

namespace attn::train {
namespace {

std::string unlike_shape(const Tensor& found, std::string_view expected) {
  return base::concat(name_of(found.dtype()), " of shape ", base::shape_text(found.shape()), ", expected u8 of shape ",
                      expected);
}

// Calls read(field) with each line, which is one JSON object; `where` is "file:line".
template <class Item, class Read>
std::vector<Item> read_json_lines(const std::filesystem::path& file, Read read) {
  std::vector<Item> items;
  const std::vector<std::string> lines = read_text(file);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string where = base::concat(file.string(), ':', i + 1);
    const io::Json value = io::parse_json(where, "", lines[i]);
    items.push_back(read(io::JsonField(value, where)));
  }
  return items;
}

std::vector<std::string> strings_of(const io::JsonField& field) {
  std::vector<std::string> strings;
  for (std::size_t i = 0; i < field.array().size(); ++i) strings.push_back(field.element(i).string());
  return strings;
}

TaggedText tagged_of(const io::JsonField& field) {
  TaggedText text{strings_of(field.at("tokens", "an array of strings")),
                  strings_of(field.at("tags", "an array of strings"))};
  if (text.tokens.empty()) field.fail("no tokens, expected one or more");
  if (text.tokens.size() != text.tags.size()) {
    field.fail(base::concat(text.tags.size(), " tags, expected ", text.tokens.size(), ", one for each token"));
  }
  return text;
}

}  // namespace

std::vector<std::string> read_text(const std::filesystem::path& file) {
  const io::SharedBytes bytes = io::map_file(file);
  std::string_view text = io::as_text(bytes);
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if (lines.empty()) throw Error(file.string(), "", "no examples, expected one or more");
  return lines;
}

Images read_images(const std::filesystem::path& folder, std::string_view part, std::int32_t classes) {
  const std::filesystem::path pixels = folder / base::concat(part, ".images.npy");
  const std::filesystem::path labels = folder / base::concat(part, ".labels.npy");
  Images images{io::read_npy(pixels), {}};
  const Tensor found = io::read_npy(labels);
  if (images.pixels.dtype() != DType::u8 || images.pixels.rank() != 3) {
    throw Error(pixels.string(), "", unlike_shape(images.pixels, "(count, height, width)"));
  }
  if (found.dtype() != DType::u8 || found.rank() != 1 || found.extent(0) != images.pixels.extent(0)) {
    throw Error(labels.string(), "", unlike_shape(found, base::concat('(', images.pixels.extent(0), ')')));
  }
  if (found.size() == 0) throw Error(pixels.string(), "", "no examples, expected one or more");
  for (const std::uint8_t label : found.values<std::uint8_t>()) {
    if (label >= classes) {
      throw Error(labels.string(), base::concat("[", images.labels.size(), "]"),
                  base::concat("label ", int{label}, ", expected 0 to ", classes - 1));
    }
    images.labels.push_back(label);
  }
  return images;
}

std::vector<LabelledText> read_labelled(const std::filesystem::path& file, std::int32_t classes) {
  return read_json_lines<LabelledText>(file, [classes](const io::JsonField& field) {
    return LabelledText{field.at("text", "a string").string(),
                        static_cast<std::int32_t>(field.at("label", "an integer").integer(0, classes - 1))};
  });
}

std::vector<TaggedText> read_tagged(const std::filesystem::path& file) {
  return read_json_lines<TaggedText>(file, tagged_of);
}

std::vector<TextPair> read_pairs(const std::filesystem::path& file) {
  return read_json_lines<TextPair>(file, [](const io::JsonField& field) {
    return TextPair{field.at("source", "a string").string(), field.at("target", "a string").string()};
  });
}

}  // namespace attn::train
