// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace tandem {

// FNV-1a of 64 bits, over bytes or over wider parts. The hash detects accidental changes, not an
// adversary's.
class Fnv1a {
 public:
  constexpr void add(std::uint64_t part) { hash_ = (hash_ ^ part) * 0x100000001b3; }
  [[nodiscard]] constexpr std::uint64_t value() const { return hash_; }

 private:
  std::uint64_t hash_ = 0xcbf29ce484222325;
};

// FNV-1a over the bytes of `text`, as 16 hexadecimal digits.
[[nodiscard]] inline std::string checksum_of(std::string_view text) {
  Fnv1a hash;
  for (const char byte : text) hash.add(static_cast<unsigned char>(byte));
  return fmt::format("{:016x}", hash.value());
}

}  // namespace tandem
