// SPDX-License-Identifier: Apache-2.0
#include <attn/error.hpp>

namespace attn {
namespace {

std::string sentence(std::string_view where, std::string_view argument, std::string_view what) {
  std::string text(where);
  if (!argument.empty()) text.append(": ").append(argument);
  return text.append(": ").append(what);
}

}  // namespace

Error::Error(std::string_view where, std::string_view argument, std::string_view what)
    : std::runtime_error(sentence(where, argument, what)), where_(where), argument_(argument) {}

Error::~Error() = default;

Status::Status(const Error& error) noexcept {
  try {
    argument_ = error.argument();
    message_ = error.what();
  } catch (const std::bad_alloc& no_memory) {
    *this = Status(no_memory);
  }
}

// Short enough to stand in the string itself, without an allocation.
Status::Status(const std::bad_alloc&) noexcept : message_("out of memory") {}

}  // namespace attn
