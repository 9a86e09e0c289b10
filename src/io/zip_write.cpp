// SPDX-License-Identifier: Apache-2.0
#include <zlib.h>

#include "io/little_endian.hpp"
#include "io/zip.hpp"
#include "io/zip_layout.hpp"

namespace attn::io {
namespace {

using namespace zip;

constexpr std::uint16_t kVersion = 45;                        // zip64
constexpr std::uint16_t kMadeBy = 3 << 8 | kVersion;          // Unix, which gives the permissions below their meaning
constexpr std::uint32_t kPermissions = 0100644u << 16;        // a regular file
constexpr std::uint16_t kNoTime = 0, kFirstDay = 1 << 5 | 1;  // 1 January 1980, the first that the format knows

}  // namespace

void ZipWriter::write(std::span<const std::byte> bytes) {
  out_.write(bytes);
  at_ += bytes.size();
}

void ZipWriter::add(std::string_view name, std::initializer_list<std::span<const std::byte>> pieces) {
  std::uint32_t checksum = 0;
  std::uint64_t size = 0;
  for (const auto piece : pieces) {
    checksum =
        static_cast<std::uint32_t>(crc32_z(checksum, reinterpret_cast<const Bytef*>(piece.data()), piece.size()));
    size += piece.size();
  }
  // These fields stand in the local header and in the directory alike.
  std::string shared;
  for (const std::uint16_t n : {kVersion, kUtf8Flag, kStored, kNoTime, kFirstDay}) append_number(shared, n);
  for (const std::uint32_t n : {checksum, kElsewhere32, kElsewhere32}) append_number(shared, n);
  append_number(shared, static_cast<std::uint16_t>(name.size()));

  append_number(directory_, kDirectorySignature);
  append_number(directory_, kMadeBy);
  directory_ += shared;
  for (const int n : {28, 0, 0, 0}) append_number(directory_, static_cast<std::uint16_t>(n));  // 28: the extra field
  append_number(directory_, kPermissions);
  append_number(directory_, kElsewhere32);
  directory_ += name;
  for (const int n : {int{kZip64Extra}, 24}) append_number(directory_, static_cast<std::uint16_t>(n));
  for (const std::uint64_t n : {size, size, at_}) append_number(directory_, n);
  ++count_;

  std::string local;
  append_number(local, kLocalSignature);
  local += shared;
  append_number(local, std::uint16_t{20});
  local += name;
  for (const int n : {int{kZip64Extra}, 16}) append_number(local, static_cast<std::uint16_t>(n));
  for (const std::uint64_t n : {size, size}) append_number(local, n);
  write(std::as_bytes(std::span(local)));
  for (const auto piece : pieces) write(piece);
}

void ZipWriter::finish() {
  const std::uint64_t directory_at = at_, end_at = at_ + directory_.size();
  std::string end = std::move(directory_);
  append_number(end, kEnd64Signature);
  append_number(end, std::uint64_t{kEnd64Bytes - 12});  // what follows this field
  for (const std::uint16_t n : {kMadeBy, kVersion}) append_number(end, n);
  for (int i = 0; i < 2; ++i) append_number(end, std::uint32_t{0});  // the number of this volume
  for (const std::uint64_t n : {count_, count_, end_at - directory_at, directory_at}) append_number(end, n);

  append_number(end, kLocator64Signature);
  append_number(end, std::uint32_t{0});
  append_number(end, end_at);
  append_number(end, std::uint32_t{1});  // volumes in all

  append_number(end, kEndSignature);
  for (int i = 0; i < 2; ++i) append_number(end, std::uint16_t{0});
  for (int i = 0; i < 2; ++i) append_number(end, kElsewhere16);
  for (int i = 0; i < 2; ++i) append_number(end, kElsewhere32);
  append_number(end, std::uint16_t{0});
  write(std::as_bytes(std::span(end)));
}

}  // namespace attn::io
