// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace tandem {

struct Share {
  std::int64_t first = 0;
  std::int64_t count = 0;
};

// Rank `rank`'s 1/size of `elements`, cut at cache lines so that no two ranks write the same one.
[[nodiscard]] Share share_of(int rank, int size, std::int64_t elements);

// For elements first .. first + count: sums `buffers` in their order, multiplies by `factor`, and
// writes the result to every buffer. The buffers are distinct.
void reduce_to_all(const std::vector<float*>& buffers, std::int64_t first, std::int64_t count,
                   float factor);

// The same, written to the buffer of `root` alone.
void reduce_to_root(const std::vector<float*>& buffers, std::int64_t first, std::int64_t count,
                    int root);

}  // namespace tandem
