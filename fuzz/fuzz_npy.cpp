// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <attn/error.hpp>

#include "input.hpp"
#include "io/npy_format.hpp"

namespace {

using namespace attn;

// What one header says, the writer says again: the array comes back with the same shape and values.
void check_round_trip(const Tensor& tensor) {
  if (tensor.rank() > 32) return;  // more than NumPy can read, so more than the writer takes
  const Tensor data = io::npy_data(tensor);
  const std::string header = io::npy_header("input", "", tensor);
  std::string bytes = header;
  const auto elements = io::bytes_of(data);
  bytes.append(reinterpret_cast<const char*>(elements.data()), elements.size());
  const fuzz::Input again(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  const Tensor back = io::parse_npy("again", "", {again.bytes, again.owner});
  const auto found = io::bytes_of(back);
  fuzz::check(back.dtype() == tensor.dtype());
  fuzz::check(std::equal(back.shape().begin(), back.shape().end(), tensor.shape().begin(), tensor.shape().end()));
  fuzz::check(std::equal(found.begin(), found.end(), elements.begin(), elements.end()));
}

}  // namespace

// A .npy file if it begins like one, else a .npz file: refused with an Error, or arrays that can be read and written.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const fuzz::Input input(data, size);
  try {
    if (size > 0 && data[0] == 0x93) {
      check_round_trip(io::parse_npy("input", "", {input.bytes, input.owner}));
    } else {
      for (const auto& array : io::parse_npz("input", {input.bytes, input.owner})) check_round_trip(array.second);
    }
  } catch (const Error&) {
  }
  return 0;
}
