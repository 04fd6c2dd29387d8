// SPDX-License-Identifier: Apache-2.0
//
// Both directions of batch normalisation take rows in chunks that stay in the cache, and channels
// in blocks whose sums stay in registers: each direction reads memory twice, once for the sums and
// once for the result. A chunk's sums are in fp32, sums over chunks in double.
#pragma once

#include <algorithm>
#include <cstdint>

#include "common/kernels/host/vector_math.h"
#include "common/kernels/image_operations.h"

namespace tandem::host {

inline constexpr int kBlock = 64;              // channels
inline constexpr std::int64_t kRowChunk = 64;  // rows

// A chunk's rows of a block of channels.
struct Part {
  std::int64_t rows;
  std::int64_t stride;  // elements from one row to the next
  int width;            // channels, at most kBlock
};

// Calls body(width), with separate code for a whole block.
template <class Body>
TANDEM_INTO_LOOPS void for_width(int width, Body body) {
  if (width == kBlock) {
    body(kBlock);
  } else {
    body(width);
  }
}

// Calls visit(first row, first channel, part) for each part of a matrix, a chunk of rows at a time.
template <class Visit>
void for_each_part(const BatchNormShape& s, Visit visit) {
  for (std::int64_t row = 0; row < s.rows; row += kRowChunk) {
    const std::int64_t rows = std::min(kRowChunk, s.rows - row);
    for (std::int64_t channel = 0; channel < s.channels; channel += kBlock) {
      const auto width = static_cast<int>(std::min<std::int64_t>(kBlock, s.channels - channel));
      visit(row, channel, Part{rows, s.channels, width});
    }
  }
}

}  // namespace tandem::host
