// SPDX-License-Identifier: Apache-2.0
#include <zlib.h>

#include <algorithm>
#include <attn/error.hpp>
#include <limits>
#include <set>
#include <utility>

#include "base/concat.hpp"
#include "io/json.hpp"
#include "io/little_endian.hpp"
#include "io/zip.hpp"
#include "io/zip_layout.hpp"

namespace attn::io {
namespace {

using base::concat;
using namespace zip;
using Bytes = std::span<const std::byte>;

constexpr std::size_t kMaxExpansion = 1032;  // deflate cannot make a byte stand for more than this

// One member as the directory describes it.
struct Entry {
  std::string name;
  std::uint16_t flags = 0, method = 0;
  std::uint32_t checksum = 0;
  std::uint64_t stored_size = 0, size = 0, offset = 0;
};

class ZipReader {
 public:
  ZipReader(std::string_view where, const SharedBytes& archive) : where_(where), archive_(archive) {}

  std::vector<ZipMember> read() const {
    std::vector<ZipMember> members;
    std::set<std::string> names;
    // Members that share bytes could expand an archive without limit.
    std::uint64_t left = archive_.bytes.size();
    for (const Entry& entry : directory()) {
      if (!names.insert(entry.name).second) fail(entry, "occurs twice");
      if (entry.stored_size > left) fail(entry, "overlaps another, or ends beyond the file");
      left -= entry.stored_size;
      members.push_back({entry.name, data(entry)});
    }
    return members;
  }

 private:
  std::string_view where_;
  const SharedBytes& archive_;

  [[noreturn]] void fail(const Entry& entry, std::string_view what) const {
    throw Error(where_, "member " + quote(entry.name), what);
  }

  // `size` bytes from `at` on, wherever the archive says that is.
  std::span<std::byte> slice(std::uint64_t at, std::uint64_t size, std::string_view what) const {
    const std::uint64_t whole = archive_.bytes.size();
    if (at > whole || size > whole - at) {
      throw Error(where_, "",
                  concat(what, " at byte ", at, " ends beyond the file's ", whole, " bytes; is it truncated?"));
    }
    return archive_.bytes.subspan(static_cast<std::size_t>(at), static_cast<std::size_t>(size));
  }
  std::span<std::byte> record(std::uint64_t at, std::size_t size, std::uint32_t signature,
                              std::string_view what) const {
    const std::span<std::byte> bytes = slice(at, size, what);
    if (load_number<std::uint32_t>(bytes, 0) != signature) {
      throw Error(where_, "", concat("byte ", at, " holds no ", what, ", expected one"));
    }
    return bytes;
  }

  // The end record is the last thing in the file, but for a comment whose length it holds.
  std::size_t end_record() const {
    const Bytes bytes = archive_.bytes;
    constexpr std::size_t kMaxComment = std::numeric_limits<std::uint16_t>::max();
    for (std::size_t comment = 0; comment <= kMaxComment && comment + kEndBytes <= bytes.size(); ++comment) {
      const std::size_t at = bytes.size() - kEndBytes - comment;
      if (load_number<std::uint32_t>(bytes, at) == kEndSignature &&
          load_number<std::uint16_t>(bytes, at + 20) == comment) {
        return at;
      }
    }
    throw Error(where_, "", "has no zip directory at its end, expected a whole .npz file; is it truncated?");
  }

  std::vector<Entry> directory() const {
    const std::size_t end = end_record();
    std::uint64_t count = load_number<std::uint16_t>(archive_.bytes, end + 10);
    std::uint64_t at = load_number<std::uint32_t>(archive_.bytes, end + 16);
    if (count == kElsewhere16 || at == kElsewhere32) {
      if (end < kLocator64Bytes) throw Error(where_, "", "has no zip64 locator, expected one");
      const auto locator = record(end - kLocator64Bytes, kLocator64Bytes, kLocator64Signature, "zip64 locator");
      const auto end64 =
          record(load_number<std::uint64_t>(locator, 8), kEnd64Bytes, kEnd64Signature, "zip64 end record");
      count = load_number<std::uint64_t>(end64, 32);
      at = load_number<std::uint64_t>(end64, 48);
    }
    std::vector<Entry> entries;
    for (std::uint64_t i = 0; i < count; ++i) at += read_entry(at, entries.emplace_back());
    return entries;
  }

  // Reads one directory entry and gives its length.
  std::size_t read_entry(std::uint64_t at, Entry& entry) const {
    const Bytes fixed = record(at, kDirectoryBytes, kDirectorySignature, "directory entry");
    entry.flags = load_number<std::uint16_t>(fixed, 8);
    entry.method = load_number<std::uint16_t>(fixed, 10);
    entry.checksum = load_number<std::uint32_t>(fixed, 16);
    entry.stored_size = load_number<std::uint32_t>(fixed, 20);
    entry.size = load_number<std::uint32_t>(fixed, 24);
    entry.offset = load_number<std::uint32_t>(fixed, 42);
    const std::size_t name_size = load_number<std::uint16_t>(fixed, 28);
    const std::size_t extra_size = load_number<std::uint16_t>(fixed, 30);
    const std::size_t comment_size = load_number<std::uint16_t>(fixed, 32);
    const Bytes rest = slice(at + kDirectoryBytes, name_size + extra_size + comment_size, "directory entry");
    entry.name.assign(reinterpret_cast<const char*>(rest.data()), name_size);
    read_zip64(rest.subspan(name_size, extra_size), entry);
    return kDirectoryBytes + rest.size();
  }

  // Sizes and the offset that do not fit 32 bits stand in an extra field, in this order, each only if it is needed.
  void read_zip64(Bytes extra, Entry& entry) const {
    while (extra.size() >= 4) {
      const std::size_t size = load_number<std::uint16_t>(extra, 2);
      if (size > extra.size() - 4) fail(entry, "its extra fields end beyond their length");
      Bytes field = extra.subspan(4, size);
      if (load_number<std::uint16_t>(extra, 0) == kZip64Extra) {
        for (std::uint64_t* value : {&entry.size, &entry.stored_size, &entry.offset}) {
          if (*value != kElsewhere32) continue;
          if (field.size() < sizeof *value) fail(entry, "its zip64 field is too short");
          *value = load_number<std::uint64_t>(field, 0);
          field = field.subspan(sizeof *value);
        }
      }
      extra = extra.subspan(4 + size);
    }
  }

  SharedBytes data(const Entry& entry) const {
    const Bytes local = record(entry.offset, kLocalBytes, kLocalSignature, "local header");
    const std::uint64_t begin =
        entry.offset + kLocalBytes + load_number<std::uint16_t>(local, 26) + load_number<std::uint16_t>(local, 28);
    const std::span<std::byte> stored = slice(begin, entry.stored_size, "member");
    if ((entry.flags & kEncryptedFlag) != 0) fail(entry, "is encrypted, expected a plain one");
    SharedBytes result;
    if (entry.method == kStored) {
      if (entry.size != entry.stored_size) {
        fail(entry, concat(entry.stored_size, " bytes stored, expected ", entry.size));
      }
      result = {stored, archive_.owner};
    } else if (entry.method == kDeflated) {
      result = inflated(entry, stored);
    } else {
      fail(entry, concat("compression method ", entry.method, ", expected 0 (stored) or 8 (deflated)"));
    }
    const auto* begin_of = reinterpret_cast<const Bytef*>(result.bytes.data());
    const std::uint32_t checksum = static_cast<std::uint32_t>(crc32_z(0, begin_of, result.bytes.size()));
    if (checksum != entry.checksum) {
      fail(entry, concat("checksum ", checksum, ", expected ", entry.checksum, "; is the file damaged?"));
    }
    return result;
  }

  SharedBytes inflated(const Entry& entry, std::span<std::byte> stored) const {
    if (entry.size / kMaxExpansion > stored.size()) {
      fail(entry, concat(stored.size(), " bytes deflated, which cannot hold the ", entry.size, " it should"));
    }
    const auto size = static_cast<std::size_t>(entry.size);
    const auto memory = std::make_shared<std::vector<std::byte>>(std::max<std::size_t>(size, 1));  // zlib refuses null
    z_stream stream{};
    if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) throw std::bad_alloc();  // negative: no zlib header around the data
    int state = Z_OK;
    std::size_t read = 0, written = 0;
    // zlib counts in 32 bits, so larger members pass in pieces.
    constexpr std::size_t kMaxPiece = std::numeric_limits<uInt>::max();
    while (state == Z_OK) {
      stream.next_in = reinterpret_cast<Bytef*>(stored.data() + read);
      stream.avail_in = static_cast<uInt>(std::min(stored.size() - read, kMaxPiece));
      stream.next_out = reinterpret_cast<Bytef*>(memory->data() + written);
      stream.avail_out = static_cast<uInt>(std::min(size - written, kMaxPiece));
      const uInt input = stream.avail_in, output = stream.avail_out;
      state = inflate(&stream, Z_NO_FLUSH);
      read += input - stream.avail_in;
      written += output - stream.avail_out;
    }
    inflateEnd(&stream);
    if (state != Z_STREAM_END || written != size) {
      fail(entry, concat("its deflated data give ", written, " bytes, expected ", size, "; is the file damaged?"));
    }
    return {std::span(*memory).first(size), memory};
  }
};

}  // namespace

std::vector<ZipMember> read_zip(std::string_view where, const SharedBytes& archive) {
  return ZipReader(where, archive).read();
}

}  // namespace attn::io
