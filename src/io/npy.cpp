// SPDX-License-Identifier: Apache-2.0
#include <attn/error.hpp>
#include <attn/io/atomic_file.hpp>
#include <attn/io/npy.hpp>

#include "base/concat.hpp"
#include "io/npy_format.hpp"

namespace attn::io {

Tensor parse_npy(std::string_view where, std::string_view part, const SharedBytes& file) {
  const NpyHeader header = parse_npy_header(where, part, file.bytes);
  const auto expected = array_bytes(header.layout.dtype, header.layout.shape);
  const std::size_t found = file.bytes.size() - header.data_begin;
  const std::string what = base::concat(name_of(header.layout.dtype), " ", base::shape_text(header.layout.shape));
  if (!expected) throw Error(where, part, base::concat(what, " is larger than the address space"));
  if (found != *expected) {
    throw Error(where, part,
                base::concat(found, " bytes of data, expected ", *expected, " for ", what,
                             found < *expected ? "; is it truncated?" : ""));
  }
  return tensor_over(where, part, header.layout, {file.bytes.subspan(header.data_begin), file.owner});
}

Tensor npy_data(const Tensor& tensor) {
  if (tensor.dtype() == DType::bf16) return tensor.to(DType::f32);
  return tensor.is_contiguous() ? tensor : tensor.clone();
}

Tensor read_npy(const std::filesystem::path& file) { return parse_npy(file.string(), "", map_file(file)); }

void write_npy(const std::filesystem::path& file, const Tensor& tensor) {
  AtomicFile out(file);
  write_npy(out, tensor);
  out.commit();
}

void write_npy(AtomicFile& file, const Tensor& tensor) {
  file.write(npy_header(file.path().string(), "", tensor));
  file.write(bytes_of(npy_data(tensor)));
}

}  // namespace attn::io
