// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "common/kernels/cuda/team.h"

namespace tandem::cuda {

// The gradient of the token table, by teams (team.h): the team of row r adds up all rows of r's
// token if r is the first of them, and does nothing else. So each row of the table has one team,
// which adds in order of r: no atomics, the same bits every time. It costs a look at all ids per
// row, some 10^9 comparisons for 32768 rows, which is little beside the output layer.
struct TokenGradientRows {
  const float* ids;  // (rows)
  const float* dy;   // (rows, width)
  float* dtokens;    // (vocabulary, width)
  std::int64_t rows;
  std::int64_t width;

  template <class Team>
  TANDEM_DEVICE void row(Team& team, std::int64_t r) const {
    const float id = ids[r];
    const auto same = [&](std::int64_t other) { return ids[other] == id; };
    if (first_of(team, 0, r, same) < r) return;
    float* const sum = dtokens + static_cast<std::int64_t>(id) * width;
    for (std::int64_t own = r; own < rows; own = first_of(team, own + 1, rows, same)) {
      const float* const part = dy + own * width;
      team.each(width, [&](std::int64_t i) { sum[i] += part[i]; });
    }
  }
};

}  // namespace tandem::cuda
