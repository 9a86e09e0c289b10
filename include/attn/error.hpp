// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/export.hpp>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>

namespace attn {

// What the library throws: one sentence that names where, what was expected and what was found,
// as in "attention: k: head dim 80, expected 64 as in q". Only lack of memory (std::bad_alloc) is thrown beside it.
class ATTN_API Error : public std::runtime_error {
 public:
  // `where` is a function ("attention") or a file ("model.safetensors"); `argument` is one of its parts, or empty.
  Error(std::string_view where, std::string_view argument, std::string_view what);
  ~Error() override;

  const std::string& where() const noexcept { return where_; }
  const std::string& argument() const noexcept { return argument_; }

 private:
  std::string where_, argument_;
};

// The verdict of a check: ok, or the sentence that the call itself would throw.
class [[nodiscard]] ATTN_API Status {
 public:
  Status() = default;  // ok
  // Needs memory for the sentence; where there is none, it says that in its place.
  explicit Status(const Error& error) noexcept;
  explicit Status(const std::bad_alloc& error) noexcept;

  bool ok() const noexcept { return message_.empty(); }
  const std::string& message() const noexcept { return message_; }
  // The argument that the message is about, as in "k"; empty when ok.
  std::string_view argument() const noexcept { return argument_; }

 private:
  std::string message_, argument_;
};

}  // namespace attn
