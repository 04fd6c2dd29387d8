// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace tandem {

// FNV-1a of 64 bits over the bytes of `text`, as 16 hexadecimal digits: tells files apart that were
// changed by accident, not by an adversary.
[[nodiscard]] inline std::string checksum_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char byte : text) {
    hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  }
  return fmt::format("{:016x}", hash);
}

}  // namespace tandem
