// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/export.hpp>
#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>

namespace attn::io {

// A file that appears whole or not at all. Bytes go to a temporary file in the same folder; `commit` brings it to the
// disk and renames it over `path` in one step. Without a commit (an exception, a full disk) the temporary is removed
// and whatever stood at `path` is as it was. A process that is killed before then leaves nothing either, but on file
// systems without nameless files (O_TMPFILE; NFS is one), where a hidden .attn-*.tmp may stay.
//
// Every function throws Error naming the file: the folder is absent or cannot be written, `path` is a folder or a
// device or has too long a name, the disk is full. A symbolic link is followed; the permissions of a file that is
// replaced are kept.
class ATTN_API AtomicFile {
 public:
  // Creates the temporary file.
  explicit AtomicFile(std::filesystem::path path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  const std::filesystem::path& path() const noexcept { return path_; }

  // Appends. Not buffered: a call is a system call.
  void write(std::span<const std::byte> bytes);
  void write(std::string_view text) { write(std::as_bytes(std::span(text))); }
  // At most once, after which nothing can be written. Cost: waits for the disk (fsync).
  void commit();

 private:
  std::filesystem::path path_, target_, temporary_;
  int descriptor_ = -1;

  void create();
  template <class Make>
  void give_temporary_name(const Make& make);
  [[noreturn]] void fail(std::string_view action) const;
};

}  // namespace attn::io
