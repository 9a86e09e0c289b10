// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace attn::test {

// A serialised protocol-buffers message, field by field (https://protobuf.dev/programming-guides/encoding). Knows the
// wire format and no schema: whoever reads it knows the field numbers. Views the bytes. Throws std::runtime_error for
// bytes that are no message.
class ProtoMessage {
 public:
  struct Field {
    int number = 0;
    std::uint64_t value = 0;      // of varints and fixed-size numbers
    std::string_view bytes = {};  // of strings, bytes and messages
  };

  explicit ProtoMessage(std::string_view bytes) : rest_(bytes) {
    while (!rest_.empty()) fields_.push_back(next());
  }

  // All fields of a number, in order.
  std::vector<Field> all(int number) const {
    std::vector<Field> found;
    for (const Field& field : fields_) {
      if (field.number == number) found.push_back(field);
    }
    return found;
  }
  // The last field of a number, as the format wants for those that are not repeated; zero and empty without one.
  Field last(int number) const {
    const std::vector<Field> found = all(number);
    return found.empty() ? Field{} : found.back();
  }
  std::string text(int number) const { return std::string(last(number).bytes); }
  std::int64_t integer(int number) const { return static_cast<std::int64_t>(last(number).value); }
  float real(int number) const {
    const auto bits = static_cast<std::uint32_t>(last(number).value);
    float x;
    std::memcpy(&x, &bits, sizeof x);
    return x;
  }
  ProtoMessage message(int number) const { return ProtoMessage(last(number).bytes); }

 private:
  std::string_view take(std::uint64_t count) {
    if (count > rest_.size()) throw std::runtime_error("protobuf: a field goes beyond the end");
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<unsigned char>(take(1).front());
      value |= std::uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return value;
    }
    throw std::runtime_error("protobuf: a number longer than 10 bytes");
  }
  std::uint64_t little_endian(std::size_t size) {
    std::uint64_t value = 0;
    std::memcpy(&value, take(size).data(), size);
    return value;
  }
  Field next() {
    const std::uint64_t tag = varint();
    Field field{.number = static_cast<int>(tag >> 3)};
    switch (tag & 7) {
      case 0:
        field.value = varint();
        break;
      case 1:
        field.value = little_endian(8);
        break;
      case 2:
        field.bytes = take(varint());
        break;
      case 5:
        field.value = little_endian(4);
        break;
      default:
        throw std::runtime_error("protobuf: unknown wire type " + std::to_string(tag & 7));
    }
    return field;
  }

  std::string_view rest_;
  std::vector<Field> fields_;
};

}  // namespace attn::test
