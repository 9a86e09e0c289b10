// SPDX-License-Identifier: Apache-2.0
#pragma once

#define ATTN_VERSION_MAJOR 0
#define ATTN_VERSION_MINOR 1
#define ATTN_VERSION_PATCH 0

// Inline namespace of every aggregate that may gain a field. Adding one changes the ABI, and so the minor version:
// code compiled against another header then fails to link, in place of reading a field that is not there.
#define ATTN_ABI v0_1
