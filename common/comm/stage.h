// SPDX-License-Identifier: Apache-2.0
//
// The slab for memory that the other ranks cannot see.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace tandem {

// The transport's own chunk in bytes, independent of the caller's buckets.
constexpr std::int64_t kStageBytes = std::int64_t{1} << 20;

// The bytes of `size` that a stage takes in the round after `done` bytes; 0 where no bytes are
// left.
[[nodiscard]] constexpr std::int64_t staged_part(std::int64_t size, std::int64_t done,
                                                 std::int64_t stage = kStageBytes) {
  return std::clamp(size - done, std::int64_t{0}, stage);
}

// Copies nothing where both are the same place, as for a part that lies in its place already.
inline void copy_bytes(std::byte* to, const std::byte* from, std::int64_t count) {
  if (to == from || count == 0) return;
  std::memcpy(to, from, static_cast<std::size_t>(count));
}

}  // namespace tandem
