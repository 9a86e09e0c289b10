// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/tensor.hpp>
#include <filesystem>
#include <map>
#include <string>

namespace attn::io {

class AtomicFile;

// NumPy's files: one array (.npy) or several by name (.npz, a zip archive of .npy files).
// Format: numpy.lib.format, versions 1 to 3. Dtypes: f4, f8, f2, i1, i4, i8, u1, b1 in either byte order. Others (and
// pickled objects, which could run code) are refused by name.
//
// bf16 has no NumPy type. Both writers store it as f32, which holds every bf16 value exactly; reading such a file gives
// f32, and to(DType::bf16) gives back the same bits.
//
// Errors name the file, the array, what was expected and what was found.

// The array, without a copy where the file's bytes can be used as they are: it then is a private mapping of the file,
// read as it is touched. An array in Fortran order keeps that order, as strides; a big-endian one is swapped into new
// memory. Throws Error for a file that is absent, truncated, longer than its array, or malformed.
ATTN_API Tensor read_npy(const std::filesystem::path& file);

// Writes version 1, row-major, little-endian; whole or not at all (see AtomicFile). A tensor that is not contiguous is
// copied first. Throws Error for a tensor that holds nothing or has more than 32 dimensions (NumPy's limit), and what
// AtomicFile throws.
ATTN_API void write_npy(const std::filesystem::path& file, const Tensor& tensor);
// The same into a file that the caller commits, so that several can be made to appear together or not at all.
ATTN_API void write_npy(AtomicFile& file, const Tensor& tensor);

// All arrays of an archive, stored or deflated, by the names that savez was given. Every checksum is verified.
ATTN_API std::map<std::string, Tensor> read_npz(const std::filesystem::path& file);

// Writes an uncompressed archive, the same bytes for the same tensors (no time is recorded). Errors as write_npy.
ATTN_API void write_npz(const std::filesystem::path& file, const std::map<std::string, Tensor>& tensors);
// The same into a file that the caller commits.
ATTN_API void write_npz(AtomicFile& file, const std::map<std::string, Tensor>& tensors);

}  // namespace attn::io
