// SPDX-License-Identifier: Apache-2.0
#pragma once

// Symbols are hidden unless marked: what is not part of the public face cannot be linked against by accident.
#define ATTN_API [[gnu::visibility("default")]]
