// SPDX-License-Identifier: Apache-2.0
#include "io/mapped_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <attn/error.hpp>
#include <cerrno>
#include <string>
#include <system_error>

#include "base/concat.hpp"

namespace attn::io {
namespace {

[[noreturn]] void fail(const std::filesystem::path& path, const char* action, int error) {
  if (error == ENOENT) throw Error(path.string(), "", "no such file");
  throw Error(path.string(), "", base::concat(action, ": ", std::generic_category().message(error)));
}

struct Descriptor {
  int value;
  ~Descriptor() {
    if (value >= 0) ::close(value);
  }
};

}  // namespace

SharedBytes map_file(const std::filesystem::path& path) {
  // Without O_NONBLOCK, opening a pipe would wait for its writer.
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (file.value < 0) fail(path, "cannot be opened", errno);
  struct stat found {};
  if (::fstat(file.value, &found) != 0) fail(path, "cannot be opened", errno);
  if (S_ISDIR(found.st_mode)) throw Error(path.string(), "", "is a folder, expected a file");
  if (!S_ISREG(found.st_mode)) throw Error(path.string(), "", "is a device or a pipe, expected a file");
  const std::size_t size = static_cast<std::size_t>(found.st_size);
  if (size == 0) return {};  // mmap refuses an empty range
  void* data = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, file.value, 0);
  if (data == MAP_FAILED) fail(path, "cannot be mapped", errno);
  return {{static_cast<std::byte*>(data), size}, std::shared_ptr<void>(data, [size](void* p) { ::munmap(p, size); })};
}

}  // namespace attn::io
