// SPDX-License-Identifier: Apache-2.0
#include "outputs.hpp"

#include <unistd.h>

#include <attn/error.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <system_error>

namespace attn::app {
namespace {

namespace fs = std::filesystem;

// The part of `folder`, a whole path, that is to be made: its first parent that does not exist, or empty.
fs::path first_absent(const fs::path& folder) {
  fs::path absent, at = folder;
  for (std::error_code ignored; at.has_relative_path() && !fs::exists(at, ignored); at = at.parent_path()) {
    absent = at;
  }
  return absent;
}

fs::path whole_path(const fs::path& folder) {
  const fs::path whole = fs::absolute(folder).lexically_normal();
  return whole.filename().empty() ? whole.parent_path() : whole;
}

[[noreturn]] void refuse_folder(const fs::path& folder, const std::string& reason) {
  throw Error(folder.string(), "", "the folder cannot be made: " + reason);
}

}  // namespace

void check_output(const fs::path& file, const std::vector<fs::path>& inputs) {
  std::error_code ignored;  // a file that is not there is no other file
  for (const fs::path& input : inputs) {
    if (fs::equivalent(file, input, ignored)) {
      const std::string name = input == file ? "" : input.string() + ", ";
      throw Error(file.string(), "", "is " + name + "an input, expected another file to write");
    }
  }
  io::AtomicFile{file};
}

void check_output_folder(const fs::path& folder) {
  const fs::path whole = whole_path(folder), absent = first_absent(whole);
  const fs::path parent = absent.empty() ? whole : absent.parent_path();
  std::error_code ignored;
  if (!fs::is_directory(parent, ignored)) {
    if (absent.empty()) throw Error(folder.string(), "", "is a file, expected a folder to write to");
    refuse_folder(folder, parent.string() + " is no folder");
  }
  if (::access(parent.c_str(), W_OK | X_OK) != 0) {
    if (absent.empty()) throw Error(folder.string(), "", std::string("cannot be written to: ") + std::strerror(errno));
    refuse_folder(folder, std::strerror(errno));
  }
  const long longest = ::pathconf(parent.c_str(), _PC_NAME_MAX);
  for (const fs::path& name : whole.lexically_relative(parent)) {
    if (longest > 0 && name.native().size() > static_cast<std::size_t>(longest)) {
      refuse_folder(folder, std::strerror(ENAMETOOLONG));
    }
  }
}

void flush_output() {
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return;
  // What failed while it was printed has left no reason behind.
  throw Error("standard output", "", std::string("cannot be written: ") + std::strerror(errno == 0 ? EIO : errno));
}

OutputFolder::OutputFolder(const fs::path& folder) : folder_(whole_path(folder)), made_(first_absent(folder_)) {
  std::error_code failure;
  fs::create_directories(folder_, failure);
  if (failure) refuse_folder(folder, failure.message());
}

OutputFolder::~OutputFolder() {
  std::error_code kept;  // a folder that is not empty stays
  fs::path at = folder_;
  while (!made_.empty() && fs::remove(at, kept) && at != made_) at = at.parent_path();
}

void OutputFiles::commit() {
  flush_output();
  for (io::AtomicFile& file : files_) file.commit();
}

}  // namespace attn::app
