// SPDX-License-Identifier: Apache-2.0
//
// How many blocks of how many threads a kernel is launched with.
#pragma once

#include <algorithm>
#include <cstdint>

#include "common/base/rounding.h"

namespace tandem::cuda {

inline constexpr int kThreads = 256;                        // of a block
inline constexpr std::int64_t kMostReductionBlocks = 1024;  // one partial sum each

// Blocks such that there is a thread for every `per_thread` of `count` items.
[[nodiscard]] constexpr std::int64_t blocks_for(std::int64_t count, int per_thread) {
  return ceil_div(count, std::int64_t{per_thread} * kThreads);
}

// The same for sums: from kMostReductionBlocks on, threads take further items in turn. Whatever the
// GPU, so that a sum adds up in one order.
[[nodiscard]] constexpr std::int64_t reduction_blocks(std::int64_t count, int per_thread) {
  return std::min(kMostReductionBlocks, blocks_for(count, per_thread));
}

// Stretches of rows that layer normalisation's parameters' gradients are first summed over, one
// thread a stretch and column.
[[nodiscard]] constexpr std::int64_t norm_parts(std::int64_t rows) {
  return std::min<std::int64_t>(128, ceil_div(rows, 16));
}

// The same of batch normalisation, whose channels are few and whose rows are many: about as many
// sums as keep a GPU busy.
[[nodiscard]] constexpr std::int64_t batch_parts(std::int64_t rows, std::int64_t channels) {
  constexpr std::int64_t kSums = std::int64_t{1} << 18;
  return std::min(ceil_div(kSums, channels), ceil_div(rows, 16));
}

// The same where a block takes up a stretch's rows of a channel.
[[nodiscard]] constexpr std::int64_t team_parts(std::int64_t rows, std::int64_t channels) {
  return std::min(ceil_div(std::int64_t{4096}, channels), ceil_div(rows, 2048));
}

}  // namespace tandem::cuda
