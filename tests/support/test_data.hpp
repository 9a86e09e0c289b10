// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string_view>

namespace attn::test {

// A file or folder of tests/data.
std::filesystem::path test_data(std::string_view name);

}  // namespace attn::test
