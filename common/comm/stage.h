// SPDX-License-Identifier: Apache-2.0
//
// The slab through which memory passes that ranks do not see of one another.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace tandem {

// The transport's own chunk, whatever the buckets of whoever calls.
constexpr std::int64_t kStageElements = std::int64_t{1} << 18;  // 1 MiB

// Elements of `size` that a stage takes in the round after `done` of them; 0 where none are left.
[[nodiscard]] constexpr std::int64_t staged_part(std::int64_t size, std::int64_t done) {
  return std::clamp(size - done, std::int64_t{0}, kStageElements);
}

// Nothing where both are the same place: a part that is already where it belongs.
inline void copy_floats(float* to, const float* from, std::int64_t count) {
  if (to == from || count == 0) return;
  std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(float));
}

}  // namespace tandem
