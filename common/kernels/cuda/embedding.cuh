// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "common/kernels/cuda/pack.h"
#include "common/kernels/cuda/team.h"

namespace tandem::cuda {

// Over the elements of y (rows, columns): a pack lies within a row.
struct EmbeddingElements {
  const float* ids;     // (rows)
  const float* tokens;  // (vocabulary, columns)
  const float* places;  // (positions, columns)
  float* y;
  std::int64_t positions;
  std::int64_t columns;

  [[nodiscard]] bool packed() const {
    return columns % kPack == 0 && are_packed(tokens, places, static_cast<const float*>(y));
  }

  template <int width>
  TANDEM_DEVICE void at(std::int64_t i) const {
    const std::int64_t row = i / columns;
    const std::int64_t column = i - row * columns;
    const auto token = static_cast<std::int64_t>(ids[row]);
    Pack<float, width> sum = load<width>(tokens + token * columns + column);
    const Pack<float, width> place = load<width>(places + row % positions * columns + column);
    for (int j = 0; j < width; ++j) sum[j] += place[j];
    store(y + i, sum);
  }
};

// Over the elements of dplaces (positions, columns): the sum over the samples of dy, which lie
// `sample` elements apart; in double, as the naive version's.
struct PlaceGradientElements {
  const float* dy;
  float* dplaces;
  std::int64_t samples;
  std::int64_t sample;

  template <int width>
  TANDEM_DEVICE void at(std::int64_t i) const {
    static_assert(width == 1, "a pack of doubles is none");
    double sum = 0;
    for (std::int64_t s = 0; s < samples; ++s) sum += static_cast<double>(dy[s * sample + i]);
    dplaces[i] = static_cast<float>(sum);
  }
};

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
