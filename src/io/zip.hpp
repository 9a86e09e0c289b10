// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/io/atomic_file.hpp>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/mapped_file.hpp"

namespace attn::io {

// As much of the zip format as .npz files use (APPNOTE.TXT 6.3.10): members stored or deflated, zip64, no encryption,
// one volume. zlib inflates and computes the checksums.

struct ZipMember {
  std::string name;
  SharedBytes data;  // part of the archive's own memory when it is stored, new memory when it was deflated
};

// All members, in the order of the archive's directory. Throws Error(where, ...) when the archive is malformed, a
// checksum is wrong, or a name occurs twice. Memory: at most about 1,030 times the archive's size, as much as deflate
// can expand.
std::vector<ZipMember> read_zip(std::string_view where, const SharedBytes& archive);

// Writes an archive of stored members. Every size is written in its zip64 form, so that a small archive takes the same
// path as one beyond 4 GiB.
class ZipWriter {
 public:
  explicit ZipWriter(AtomicFile& out) : out_(out) {}
  // The member's bytes are `pieces` one after the other.
  void add(std::string_view name, std::initializer_list<std::span<const std::byte>> pieces);
  // Writes the directory; nothing may be added after it.
  void finish();

 private:
  AtomicFile& out_;
  std::string directory_;
  std::uint64_t at_ = 0, count_ = 0;

  void write(std::span<const std::byte> bytes);
};

}  // namespace attn::io
