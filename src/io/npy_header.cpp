// SPDX-License-Identifier: Apache-2.0
#include <attn/error.hpp>
#include <charconv>
#include <cstdint>
#include <utility>

#include "base/concat.hpp"
#include "io/json.hpp"
#include "io/little_endian.hpp"
#include "io/npy_format.hpp"

namespace attn::io {
namespace {

using base::concat;

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kAlignment = 64;  // of the data, as NumPy writes them
constexpr std::size_t kMaxRank = 32;

constexpr std::pair<std::string_view, DType> kDtypes[] = {
    {"f4", DType::f32}, {"f8", DType::f64}, {"f2", DType::f16}, {"i1", DType::i8},
    {"i4", DType::i32}, {"i8", DType::i64}, {"u1", DType::u8},  {"b1", DType::boolean},
};

// The header is a Python literal: {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }. This reads as much of
// Python as such a dictionary needs, keys in any order, and refuses everything else.
class LiteralParser {
 public:
  LiteralParser(std::string_view where, std::string_view part, std::string_view text)
      : where_(where), part_(part), text_(text) {}

  ArrayLayout parse() {
    ArrayLayout layout;
    bool has_descr = false, has_order = false, has_shape = false;
    expect('{');
    while (!accept('}')) {
      const std::string_view key = string();
      expect(':');
      if (key == "descr" && !std::exchange(has_descr, true)) {
        read_descr(layout);
      } else if (key == "fortran_order" && !std::exchange(has_order, true)) {
        layout.order = boolean() ? Order::column_major : Order::row_major;
      } else if (key == "shape" && !std::exchange(has_shape, true)) {
        layout.shape = shape();
      } else {
        fail(concat("key ", quote(key), ", expected descr, fortran_order and shape, once each"));
      }
      if (!accept(',') && !next_is('}')) unexpected("',' or '}'");
    }
    skip_space();
    if (at_ != text_.size()) unexpected("the end");
    if (!has_descr || !has_order || !has_shape) fail("lacks a key, expected descr, fortran_order and shape");
    return layout;
  }

 private:
  std::string_view where_, part_, text_;
  std::size_t at_ = 0;

  [[noreturn]] void fail(std::string_view what) const { throw Error(where_, part_, concat("header: ", what)); }
  [[noreturn]] void unexpected(std::string_view expected) const {
    fail(concat("at byte ", at_, ": ", quote(text_.substr(at_, 20)), ", expected ", expected));
  }

  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }
  bool next_is(char c) {
    skip_space();
    return at_ < text_.size() && text_[at_] == c;
  }
  bool accept(char c) {
    if (!next_is(c)) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) unexpected(std::string{'\'', c, '\''});
  }

  std::string_view string() {
    const char mark = next_is('"') ? '"' : '\'';
    if (!next_is(mark)) unexpected("a string");
    const std::size_t end = text_.find(mark, at_ + 1);
    if (end == std::string_view::npos) unexpected("a string that ends");
    const std::string_view found = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return found;
  }

  bool boolean() {
    skip_space();
    for (const bool value : {false, true}) {
      const std::string_view word = value ? "True" : "False";
      if (!text_.substr(at_).starts_with(word)) continue;
      at_ += word.size();
      return value;
    }
    unexpected("True or False");
  }

  void read_descr(ArrayLayout& layout) {
    if (next_is('[')) fail("descr is a list of fields, expected an array of one element type");
    const std::string_view descr = string();
    for (const auto& [name, dtype] : kDtypes) {
      if (descr.size() != 3 || descr.substr(1) != name) continue;
      if (std::string_view("<>|=").find(descr[0]) == std::string_view::npos) continue;
      layout.dtype = dtype;
      layout.endian = descr[0] == '>' ? Endian::big : Endian::little;
      return;
    }
    std::string expected;
    for (const auto& known : kDtypes) expected += concat(expected.empty() ? "" : ", ", known.first);
    fail(concat("descr ", quote(descr), ", expected one of ", expected, " after its byte order"));
  }

  std::vector<std::ptrdiff_t> shape() {
    std::vector<std::ptrdiff_t> extents;
    expect('(');
    while (!accept(')')) {
      skip_space();
      std::ptrdiff_t extent = 0;
      const char* begin = text_.data() + at_;
      const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), extent);
      if (error != std::errc() || extent < 0) unexpected("an extent from 0 to 9223372036854775807");
      at_ += static_cast<std::size_t>(end - begin);
      extents.push_back(extent);
      if (!accept(',') && !next_is(')')) unexpected("',' or ')'");
    }
    return extents;
  }
};

}  // namespace

NpyHeader parse_npy_header(std::string_view where, std::string_view part, std::span<const std::byte> file) {
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  if (!text.starts_with(kMagic)) {
    throw Error(where, part,
                concat("begins with ", quote(text.substr(0, kMagic.size())), ", expected the 6 bytes \\x93NUMPY"));
  }
  const std::size_t at = kMagic.size() + 2;
  if (text.size() < at) throw Error(where, part, "ends before the format's version");
  const int version = static_cast<unsigned char>(text[at - 2]);
  if (version < 1 || version > 3) throw Error(where, part, concat("format version ", version, ", expected 1 to 3"));
  const std::size_t width = version == 1 ? 2 : 4;
  if (text.size() < at + width) throw Error(where, part, "ends before the header's length");
  const std::size_t length = version == 1 ? load_number<std::uint16_t>(file, at) : load_number<std::uint32_t>(file, at);
  const std::size_t left = text.size() - at - width;
  if (length > left) {
    throw Error(where, part, concat("header: length ", length, " is beyond the file's end, ", left, " bytes are left"));
  }
  NpyHeader header;
  header.layout = LiteralParser(where, part, text.substr(at + width, length)).parse();
  header.data_begin = at + width + length;
  return header;
}

std::string npy_header(std::string_view where, std::string_view part, const Tensor& tensor) {
  if (!tensor.has_value()) throw Error(where, part, "the tensor holds nothing");
  if (tensor.shape().size() > kMaxRank) {
    throw Error(where, part, concat("rank ", tensor.rank(), ", expected at most ", kMaxRank, ", NumPy's limit"));
  }
  const DType stored = tensor.dtype() == DType::bf16 ? DType::f32 : tensor.dtype();
  std::string descr;
  for (const auto& [name, dtype] : kDtypes) {
    if (dtype == stored) descr = concat(size_of(stored) == 1 ? '|' : '<', name);
  }
  std::string shape;
  for (const std::ptrdiff_t n : tensor.shape()) shape += concat(shape.empty() ? "" : " ", n, ",");
  if (tensor.rank() > 1) shape.pop_back();  // Python writes (3,) but (3, 4)
  std::string text = concat("{'descr': '", descr, "', 'fortran_order': False, 'shape': (", shape, "), }");
  const std::size_t before = kMagic.size() + 4;
  text.resize((before + text.size() + kAlignment) / kAlignment * kAlignment - before - 1, ' ');
  text += '\n';
  std::string header(kMagic);
  header += {'\1', '\0'};
  append_number(header, static_cast<std::uint16_t>(text.size()));
  return header + text;
}

}  // namespace attn::io
