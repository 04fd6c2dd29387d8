// SPDX-License-Identifier: Apache-2.0
//
// The slab through which memory passes that ranks do not see of one another.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace tandem {

// The transport's own chunk in bytes, whatever the buckets of whoever calls.
constexpr std::int64_t kStageBytes = std::int64_t{1} << 20;

// Of `size` bytes, those that a stage takes in the round after `done` of them; 0 where none are
// left.
[[nodiscard]] constexpr std::int64_t staged_part(std::int64_t size, std::int64_t done,
                                                 std::int64_t stage = kStageBytes) {
  return std::clamp(size - done, std::int64_t{0}, stage);
}

// Nothing where both are the same place: a part that is already where it belongs.
inline void copy_bytes(std::byte* to, const std::byte* from, std::int64_t count) {
  if (to == from || count == 0) return;
  std::memcpy(to, from, static_cast<std::size_t>(count));
}

}  // namespace tandem
