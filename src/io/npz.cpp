// SPDX-License-Identifier: Apache-2.0
#include <attn/error.hpp>
#include <attn/io/atomic_file.hpp>
#include <attn/io/npy.hpp>

#include "base/concat.hpp"
#include "io/json.hpp"
#include "io/npy_format.hpp"
#include "io/zip.hpp"

namespace attn::io {
namespace {

constexpr std::string_view kSuffix = ".npy";
constexpr std::size_t kMaxName = 65535 - kSuffix.size();  // the zip format counts a name's bytes in 16 bits

std::string part_of(std::string_view name) { return "array " + quote(name); }

}  // namespace

std::map<std::string, Tensor> parse_npz(std::string_view where, const SharedBytes& file) {
  std::map<std::string, Tensor> tensors;
  for (const ZipMember& member : read_zip(where, file)) {
    if (!member.name.ends_with(kSuffix)) {
      throw Error(where, "member " + quote(member.name), "expected only arrays, whose names end in .npy");
    }
    const std::string name = member.name.substr(0, member.name.size() - kSuffix.size());
    tensors.emplace(name, parse_npy(where, part_of(name), member.data));
  }
  return tensors;
}

std::map<std::string, Tensor> read_npz(const std::filesystem::path& file) {
  return parse_npz(file.string(), map_file(file));
}

void write_npz(const std::filesystem::path& file, const std::map<std::string, Tensor>& tensors) {
  AtomicFile out(file);
  write_npz(out, tensors);
  out.commit();
}

void write_npz(AtomicFile& file, const std::map<std::string, Tensor>& tensors) {
  const std::string where = file.path().string();
  ZipWriter zip(file);
  for (const auto& [name, tensor] : tensors) {
    if (name.size() > kMaxName) {
      throw Error(where, part_of(name), base::concat("name of ", name.size(), " bytes, expected at most ", kMaxName));
    }
    const std::string header = npy_header(where, part_of(name), tensor);
    const Tensor data = npy_data(tensor);
    zip.add(name + std::string(kSuffix), {std::as_bytes(std::span(header)), bytes_of(data)});
  }
  zip.finish();
}

}  // namespace attn::io
