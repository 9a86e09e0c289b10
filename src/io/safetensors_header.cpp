// SPDX-License-Identifier: Apache-2.0
#include "io/safetensors_header.hpp"

#include <algorithm>
#include <attn/error.hpp>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include "base/concat.hpp"
#include "io/array_bytes.hpp"
#include "io/json.hpp"

namespace attn::io {
namespace {

using base::concat;
using base::shape_text;
using nlohmann::json;

struct FormatDtype {
  std::string_view name;
  DType dtype;  // none where attn has no such type
  std::size_t bits;
};
constexpr FormatDtype kDtypes[] = {
    {"F32", DType::f32, 32},         {"F64", DType::f64, 64},     {"BF16", DType::bf16, 16},
    {"F16", DType::f16, 16},         {"I8", DType::i8, 8},        {"U8", DType::u8, 8},
    {"BOOL", DType::boolean, 8},     {"I32", DType::i32, 32},     {"I64", DType::i64, 64},
    {"I16", DType::none, 16},        {"U16", DType::none, 16},    {"U32", DType::none, 32},
    {"U64", DType::none, 64},        {"C64", DType::none, 64},    {"F8_E4M3", DType::none, 8},
    {"F8_E5M2", DType::none, 8},     {"F8_E8M0", DType::none, 8}, {"F8_E4M3FNUZ", DType::none, 8},
    {"F8_E5M2FNUZ", DType::none, 8}, {"F6_E2M3", DType::none, 6}, {"F6_E3M2", DType::none, 6},
    {"F4", DType::none, 4},
};
constexpr std::size_t kLengthBytes = 8;  // of the header's length, little-endian, at the start of the file

// The JSON text between the length and the data.
std::string_view header_text(std::string_view where, std::span<const std::byte> file) {
  if (file.size() < kLengthBytes) {
    throw Error(where, "", concat("holds ", file.size(), " bytes, expected at least the 8 of the header's length"));
  }
  std::uint64_t length = 0;
  std::memcpy(&length, file.data(), kLengthBytes);
  if (length > kMaxHeaderBytes) {
    throw Error(where, "header", concat("length ", length, ", expected at most ", kMaxHeaderBytes));
  }
  if (length > file.size() - kLengthBytes) {
    throw Error(
        where, "header",
        concat("length ", length, " is beyond the file's end, ", file.size() - kLengthBytes, " bytes are left"));
  }
  const auto text = file.subspan(kLengthBytes, static_cast<std::size_t>(length));
  const std::string_view view(reinterpret_cast<const char*>(text.data()), text.size());
  if (view.empty() || view.front() != '{') throw Error(where, "header", "not a JSON object, expected one");
  return view;
}

// One tensor's description, read and checked by itself.
class EntryReader {
 public:
  EntryReader(std::string_view where, std::string_view name, const json& value, std::size_t data_size)
      : where_(where), part_("tensor " + quote(name)), value_(value), data_size_(data_size) {}

  // Offsets are still counted from the start of the data.
  SafeTensorsEntry read() const {
    if (!value_.is_object()) fail(concat("described by ", text_of(value_), ", expected an object"));
    SafeTensorsEntry entry;
    const FormatDtype& found = dtype();
    entry.info = {.dtype = found.dtype, .shape = shape(), .format_dtype = std::string(found.name)};
    read_offsets(entry);
    const std::string what = concat(found.name, " ", shape_text(entry.info.shape));
    const auto expected = bytes_of_elements(found, entry.info.shape, what);
    if (!expected) fail(concat(what, " is larger than the address space"));
    if (entry.end - entry.begin != *expected) {
      fail(concat(entry.end - entry.begin, " bytes between its data_offsets, expected ", *expected, " for ", what));
    }
    entry.info.bytes = *expected;
    return entry;
  }

 private:
  std::string_view where_;
  std::string part_;
  const json& value_;
  std::size_t data_size_;

  [[noreturn]] void fail(std::string_view what) const { throw Error(where_, part_, what); }

  const json& field(const char* key) const {
    const auto found = value_.find(key);
    if (found == value_.end()) fail(concat("has no ", key));
    return *found;
  }

  const FormatDtype& dtype() const {
    const json& found = field("dtype");
    for (const FormatDtype& known : kDtypes) {
      if (found == known.name) return known;
    }
    std::string expected;
    for (const FormatDtype& known : kDtypes) expected += (expected.empty() ? "" : ", ") + std::string(known.name);
    fail(concat("dtype ", text_of(found), ", expected one of ", expected));
  }

  // Nothing when memory could not hold so many. Elements of less than a byte must fill whole ones together.
  std::optional<std::size_t> bytes_of_elements(const FormatDtype& dtype, std::span<const std::ptrdiff_t> shape,
                                               std::string_view what) const {
    if (dtype.dtype != DType::none) return array_bytes(dtype.dtype, shape);
    const auto elements = array_bytes(DType::u8, shape);
    if (!elements || *elements > static_cast<std::size_t>(std::numeric_limits<std::ptrdiff_t>::max()) / dtype.bits) {
      return std::nullopt;
    }
    const std::size_t bits = *elements * dtype.bits;
    if (bits % 8 != 0) fail(concat(what, " ends within a byte, expected whole ones"));
    return bits / 8;
  }

  std::vector<std::ptrdiff_t> shape() const {
    const json& found = field("shape");
    if (!found.is_array()) fail(concat("shape ", text_of(found), ", expected an array of extents"));
    std::vector<std::ptrdiff_t> extents;
    for (const json& n : found) extents.push_back(static_cast<std::ptrdiff_t>(count(n, "shape", found)));
    return extents;
  }

  void read_offsets(SafeTensorsEntry& entry) const {
    const json& found = field("data_offsets");
    if (!found.is_array() || found.size() != 2) {
      fail(concat("data_offsets ", text_of(found), ", expected [begin, end]"));
    }
    entry.begin = count(found[0], "data_offsets", found);
    entry.end = count(found[1], "data_offsets", found);
    if (entry.end < entry.begin) fail(concat("data_offsets ", text_of(found), ", expected begin <= end"));
    if (entry.end > data_size_) {
      fail(concat("data_offsets ", text_of(found), " end beyond the ", data_size_,
                  " bytes of data that the file holds; is it truncated?"));
    }
  }

  std::size_t count(const json& n, const char* key, const json& all) const {
    constexpr auto kMax = static_cast<std::uint64_t>(std::numeric_limits<std::ptrdiff_t>::max());
    if (!n.is_number_unsigned() || n.get<std::uint64_t>() > kMax) {
      fail(concat(key, " ", text_of(all), ": ", text_of(n), " is not a whole number from 0 to ", kMax));
    }
    return static_cast<std::size_t>(n.get<std::uint64_t>());
  }
};

std::map<std::string, std::string> read_metadata(std::string_view where, const json& value) {
  if (!value.is_object()) {
    throw Error(where, kMetadataName, concat(text_of(value), ", expected an object of strings"));
  }
  std::map<std::string, std::string> metadata;
  for (const auto& [key, text] : value.items()) {
    if (!text.is_string())
      throw Error(where, kMetadataName, concat(quote(key), " is ", text_of(text), ", expected a string"));
    metadata.emplace(key, text.get<std::string>());
  }
  return metadata;
}

// The data of all tensors must follow each other without a gap, and end where the file ends.
void check_layout(std::string_view where, const SafeTensorsHeader& header, std::size_t data_size) {
  using Item = std::pair<const std::string, SafeTensorsEntry>;
  std::vector<const Item*> items;
  for (const Item& item : header.entries) items.push_back(&item);
  std::sort(items.begin(), items.end(), [](const Item* a, const Item* b) {
    return std::pair(a->second.begin, a->second.end) < std::pair(b->second.begin, b->second.end);
  });
  std::size_t expected = 0;
  std::string before = "the header";
  for (const Item* item : items) {
    const std::size_t begin = item->second.begin;
    const std::string part = "tensor " + quote(item->first);
    if (begin < expected) {
      throw Error(where, part,
                  concat("its data begin at ", begin, " and overlap ", before, ", which ends at ", expected));
    }
    if (begin > expected) {
      throw Error(where, part, concat("its data begin at ", begin, ", expected ", expected, ", right after ", before));
    }
    expected = item->second.end;
    before = part;
  }
  if (expected != data_size) {
    throw Error(where, "", concat("holds ", data_size, " bytes of data, expected ", expected, ", the end of ", before));
  }
}

}  // namespace

SafeTensorsHeader parse_safetensors_header(std::string_view where, std::span<const std::byte> file) {
  const std::string_view text = header_text(where, file);
  const std::size_t data_begin = kLengthBytes + text.size();
  const std::size_t data_size = file.size() - data_begin;
  SafeTensorsHeader header;
  const json root = parse_json(where, "header", text);
  for (const auto& [name, value] : root.items()) {
    if (name == kMetadataName) {
      header.metadata = read_metadata(where, value);
    } else {
      header.entries.emplace(name, EntryReader(where, name, value, data_size).read());
    }
  }
  check_layout(where, header, data_size);
  for (auto& item : header.entries) {
    item.second.begin += data_begin;
    item.second.end += data_begin;
  }
  return header;
}

std::string_view safetensors_name(DType dtype) {
  for (const FormatDtype& known : kDtypes) {
    if (known.dtype == dtype) return known.name;
  }
  return "none";
}

std::string readable_safetensors_names() {
  std::string names;
  for (const FormatDtype& known : kDtypes) {
    if (known.dtype != DType::none) names += (names.empty() ? "" : ", ") + std::string(known.name);
  }
  return names;
}

}  // namespace attn::io
