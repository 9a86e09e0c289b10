// SPDX-License-Identifier: Apache-2.0
#include "support/test_data.hpp"

namespace attn::test {

std::filesystem::path test_data(std::string_view name) { return std::filesystem::path(ATTN_TEST_DATA) / name; }

}  // namespace attn::test
