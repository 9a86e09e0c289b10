// SPDX-License-Identifier: Apache-2.0
#include <attn/error.hpp>
#include <attn/io/safetensors.hpp>
#include <cstring>
#include <string_view>

#include "input.hpp"

namespace {

using namespace attn;

// Any bytes are either refused with an Error, or describe tensors whose every byte can be read and which do not share
// bytes: the sizes of all of them are no more than the file.
void check_reader(const fuzz::Input& input) {
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
        // A byte that is no boolean is found when it is read; other dtypes can only be told of.
        fuzz::check(info.dtype == DType::boolean || info.dtype == DType::none);
      }
    }
    fuzz::check(total <= input.bytes.size());
    (void)file.info("weight");  // absent in most files: the message looks for names that are close
  } catch (const Error&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  check_reader(fuzz::Input(data, size));
  // Few mutations keep the header's length right, so the same bytes are read again with a header up to the last brace.
  const std::size_t last = std::string_view(reinterpret_cast<const char*>(data), size).rfind('}');
  if (size > 8 && last != std::string_view::npos && last >= 8) {
    const fuzz::Input mended(data, size);
    const std::uint64_t length = last - 7;
    std::memcpy(mended.bytes.data(), &length, sizeof length);
    check_reader(mended);
  }
  return 0;
}
