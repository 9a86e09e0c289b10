// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

// Numbers of the zip format that its reader and its writer share.
namespace attn::io::zip {

inline constexpr std::uint32_t kLocalSignature = 0x04034b50, kDirectorySignature = 0x02014b50;
inline constexpr std::uint32_t kEndSignature = 0x06054b50, kEnd64Signature = 0x06064b50;
inline constexpr std::uint32_t kLocator64Signature = 0x07064b50;
inline constexpr std::size_t kLocalBytes = 30, kDirectoryBytes = 46, kEndBytes = 22, kEnd64Bytes = 56;
inline constexpr std::size_t kLocator64Bytes = 20;
inline constexpr std::uint16_t kStored = 0, kDeflated = 8;
inline constexpr std::uint16_t kZip64Extra = 1;
inline constexpr std::uint16_t kEncryptedFlag = 1, kUtf8Flag = 0x800;
// A field with all bits set says that its value stands in the zip64 part.
inline constexpr std::uint16_t kElsewhere16 = 0xffff;
inline constexpr std::uint32_t kElsewhere32 = 0xffffffff;

}  // namespace attn::io::zip
