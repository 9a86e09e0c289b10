// SPDX-License-Identifier: Apache-2.0
#include <attn/error.hpp>
#include <attn/io/safetensors.hpp>

#include "input.hpp"

// Any bytes are either refused with an Error, or describe tensors whose every byte can be read and which do not share
// bytes: the sizes of all of them are no more than the file.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace attn;
  const fuzz::Input input(data, size);
  try {
    const io::SafeTensors file = io::SafeTensors::from_memory(input.bytes, input.owner, "input");
    std::size_t total = 0;
    for (const std::string& name : file.names()) {
      fuzz::check(file.contains(name));
      const io::TensorInfo& info = file.info(name);
      try {
        const Tensor copy = file.tensor(name, info.shape, {info.dtype}).clone();
        total += static_cast<std::size_t>(copy.size()) * size_of(copy.dtype());
      } catch (const Error&) {
        fuzz::check(info.dtype == DType::boolean);  // a byte that is no boolean is found when it is read
      }
    }
    fuzz::check(total <= size);
  } catch (const Error&) {
  }
  return 0;
}
