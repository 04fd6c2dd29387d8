// SPDX-License-Identifier: Apache-2.0
//
// What the transformer operations do element by element, as elementwise.h has the others:
// embeddings, and the sums over rows that layer normalisation's parameters get.
#pragma once

#include <cstdint>

#include "common/kernels/cuda/batch_norm_parts.h"
#include "common/kernels/cuda/elementwise.h"
#include "common/kernels/cuda/pack.h"

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

// The gradients of layer normalisation's parameters are sums over all rows. First those over
// stretches of rows, for every column; the second of a pair is of the gain.
template <class T>
struct NormGradientParts {
  const T* dy;        // (rows, columns)
  const float* sum;   // (rows, columns)
  const float* mean;  // (rows)
  const float* rstd;  // (rows)
  FloatPair* partials;
  Stretches stretches;

  template <int width>
  TANDEM_DEVICE void at(std::int64_t i) const {
    static_assert(width == 1, "neighbouring threads read neighbouring columns as it is");
    const Stretch part = stretches.of(i);
    FloatPair gradients{0, 0};
    for (std::int64_t row = part.first; row < part.end; ++row) {
      const std::int64_t at = stretches.channels.at(row, part.channel);
      const auto own = static_cast<float>(dy[at]);
      gradients = gradients + FloatPair{own, own * ((sum[at] - mean[row]) * rstd[row])};
    }
    partials[i] = gradients;
  }
};

// Then the sums of the parts.
struct NormGradientSums : ParameterGradients {};

}  // namespace tandem::cuda
