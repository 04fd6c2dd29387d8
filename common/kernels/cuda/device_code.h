// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "common/base/rounding.h"

// Marks what runs in kernels. To the host's compiler it says nothing: the tests run the same code
// there, element by element.
#ifdef __CUDACC__
#define TANDEM_DEVICE __device__
#else
#define TANDEM_DEVICE
#endif

namespace tandem::cuda {

struct Division {
  std::int64_t quotient;
  std::int64_t remainder;
};

// Divides non-negative numbers. A GPU divides 32-bit numbers several times as fast as 64-bit
// numbers.
TANDEM_DEVICE inline Division divide(std::int64_t number, std::int64_t by) {
  if (((number | by) >> 32) == 0) {
    const auto narrow = static_cast<std::uint32_t>(number);
    const auto divisor = static_cast<std::uint32_t>(by);
    const std::uint32_t quotient = narrow / divisor;
    return {quotient, narrow - quotient * divisor};
  }
  const std::int64_t quotient = number / by;
  return {quotient, number - quotient * by};
}

// How many blocks of how many threads a kernel is launched with.

inline constexpr int kThreads = 256;                        // of a block
inline constexpr std::int64_t kMostReductionBlocks = 1024;  // one partial sum each

// Blocks such that there is a thread for every `per_thread` of `count` items.
[[nodiscard]] constexpr std::int64_t blocks_for(std::int64_t count, int per_thread) {
  return ceil_div(count, std::int64_t{per_thread} * kThreads);
}

// Layer normalisation: packs of a row, up to which there is a thread for each; rows that a block
// takes at once, so that it waits once for all of them; and rows whose parameter gradients it adds
// up, such that all blocks fit on a GPU at the same time.
inline constexpr int kMostThreads = 512;
inline constexpr int kRowsAtOnce = 4;
[[nodiscard]] constexpr std::int64_t norm_rows_each(std::int64_t rows) {
  constexpr std::int64_t kBlocks = 256;
  return round_up(ceil_div(rows, kBlocks), kRowsAtOnce);
}

}  // namespace tandem::cuda
