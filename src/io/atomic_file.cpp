// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <attn/error.hpp>
#include <attn/io/atomic_file.hpp>
#include <cerrno>
#include <system_error>
#include <utility>

#include "base/concat.hpp"

namespace attn::io {
namespace {

namespace fs = std::filesystem;

// The file that a rename has to replace: where a symbolic link leads, be something there or not, else the path itself.
fs::path followed(const fs::path& path) {
  constexpr int kMostLinks = 40;  // as Linux
  fs::path at = path;
  std::error_code ignored;
  for (int links = 0; fs::is_symlink(at, ignored); ++links) {
    if (links == kMostLinks) throw Error(path.string(), "", "is a symbolic link that leads nowhere, expected a file");
    at = at.parent_path() / fs::read_symlink(at, ignored);
  }
  return at;
}

fs::path folder_of(const fs::path& file) { return file.has_parent_path() ? file.parent_path() : fs::path("."); }

void check_target(const fs::path& path, const fs::path& target) {
  if (path.filename().empty()) throw Error(path.string(), "", "names no file, expected the path of a file to write");
  std::error_code ignored;
  const fs::file_status found = fs::status(target, ignored);
  if (fs::is_directory(found)) throw Error(path.string(), "", "is a folder, expected the path of a file to write");
  if (fs::exists(found) && !fs::is_regular_file(found)) {
    throw Error(path.string(), "", "is a device or a pipe, expected the path of a file to write");
  }
  const fs::path folder = folder_of(target);
  if (!fs::is_directory(folder, ignored)) {
    throw Error(path.string(), "", base::concat("its folder ", folder.string(), " does not exist"));
  }
  // Only the last step would fail of it otherwise, after all the work.
  const std::size_t length = target.filename().native().size();
  const long longest = ::pathconf(folder.c_str(), _PC_NAME_MAX);
  if (longest > 0 && length > static_cast<std::size_t>(longest)) {
    throw Error(path.string(), "", base::concat("its name has ", length, " bytes, expected at most ", longest));
  }
}

}  // namespace

AtomicFile::AtomicFile(fs::path path) : path_(std::move(path)), target_(followed(path_)) {
  check_target(path_, target_);
  create();
}

AtomicFile::~AtomicFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

// A file without a name vanishes with its process, however that ends. Where the file system has none, or /proc is not
// there to name it later, it gets its temporary name at once.
void AtomicFile::create() {
  if (::access("/proc/self/fd", X_OK) == 0) {
    descriptor_ = ::open(folder_of(target_).c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666);
  }
  if (descriptor_ < 0) {
    give_temporary_name([&](const char* name) {
      descriptor_ = ::open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
      return descriptor_ >= 0;
    });
  }
  struct stat replaced {};
  if (::stat(target_.c_str(), &replaced) == 0 && ::fchmod(descriptor_, replaced.st_mode & 07777) != 0) {
    fail("its permissions cannot be kept");
  }
}

// Tries names until `make` creates one. The target's own name is no part of them: it may already be as long as the file
// system allows.
template <class Make>
void AtomicFile::give_temporary_name(const Make& make) {
  static std::atomic<unsigned> counter{0};
  for (int attempt = 0; attempt < 100; ++attempt) {
    fs::path candidate = target_;
    candidate.replace_filename(base::concat(".attn-", ::getpid(), "-", counter++, ".tmp"));
    if (make(candidate.c_str())) {
      temporary_ = std::move(candidate);
      return;
    }
    if (errno != EEXIST) break;  // A file left by a process of the same number that was killed: take the next name.
  }
  fail("cannot be created");
}

void AtomicFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("cannot be written");
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

void AtomicFile::commit() {
  if (::fsync(descriptor_) != 0) fail("cannot be written");
  if (temporary_.empty()) {
    const std::string unnamed = base::concat("/proc/self/fd/", descriptor_);
    give_temporary_name(
        [&](const char* name) { return ::linkat(AT_FDCWD, unnamed.c_str(), AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0; });
  }
  // Some file systems report a full disk or quota only here.
  if (::close(std::exchange(descriptor_, -1)) != 0) fail("cannot be written");
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail("cannot be put in place");
  temporary_.clear();
  // The rename is on the disk when its folder is. A failure here leaves the file complete, so it is no error.
  const int folder_descriptor = ::open(folder_of(target_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder_descriptor < 0) return;
  ::fsync(folder_descriptor);
  ::close(folder_descriptor);
}

void AtomicFile::fail(std::string_view action) const {
  throw Error(path_.string(), "", base::concat(action, ": ", std::generic_category().message(errno)));
}

}  // namespace attn::io
