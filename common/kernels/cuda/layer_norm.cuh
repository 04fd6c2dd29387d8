// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>

#include "common/kernels/cuda/batch_norm.cuh"
#include "common/kernels/cuda/team.h"

namespace tandem::cuda {

// What layer normalisation does to a row, by a team (team.h), in fp32 whatever T is.

template <class T>
struct NormForwardRows {
  const float* x;       // (rows, width)
  const T* branch;      // (rows, width), or null
  const float* gain;    // (width)
  const float* offset;  // (width): what is called bias
  float* sum;           // (rows, width); not written where branch is null
  T* y;                 // (rows, width)
  float* mean;          // (rows)
  float* rstd;          // (rows)
  std::int64_t width;
  float epsilon;

  template <class Team>
  TANDEM_DEVICE void row(Team& team, std::int64_t r) const {
    const std::int64_t first = r * width;
    if (branch != nullptr) {
      team.each(width, [&](std::int64_t i) {
        sum[first + i] = x[first + i] + static_cast<float>(branch[first + i]);
      });
    }
    const float* const own = (branch != nullptr ? sum : x) + first;
    const auto count = static_cast<float>(width);
    const float middle = sum_of(team, width, [&](std::int64_t i) { return own[i]; }) / count;
    const float variance =
        sum_of(team, width, [&](std::int64_t i) { return (own[i] - middle) * (own[i] - middle); }) /
        count;
    const float inverse = 1 / std::sqrt(variance + epsilon);
    team.each(width, [&](std::int64_t i) {
      y[first + i] = T((own[i] - middle) * inverse * gain[i] + offset[i]);
    });
    team.alone([&] {
      mean[r] = middle;
      rstd[r] = inverse;
    });
  }
};

// With n the normalised row and g = dy gain: dsum = rstd (g - mean(g) - n mean(g n)) + dabove.
template <class T>
struct NormBackwardRows {
  const T* dy;          // (rows, width)
  const float* sum;     // (rows, width)
  const float* gain;    // (width)
  const float* mean;    // (rows)
  const float* rstd;    // (rows)
  const float* dabove;  // (rows, width), or null
  float* dsum;          // (rows, width), may be dabove
  T* dbranch;           // (rows, width), or null
  std::int64_t width;

  template <class Team>
  TANDEM_DEVICE void row(Team& team, std::int64_t r) const {
    const std::int64_t first = r * width;
    const auto scaled = [&](std::int64_t i) { return static_cast<float>(dy[first + i]) * gain[i]; };
    const auto normalised = [&](std::int64_t i) { return (sum[first + i] - mean[r]) * rstd[r]; };
    const FloatPair sums = sum_of(team, width, [&](std::int64_t i) {
      const float g = scaled(i);
      return FloatPair{g, g * normalised(i)};
    });
    const auto count = static_cast<float>(width);
    const float level = sums.first / count;
    const float tilt = sums.second / count;
    team.each(width, [&](std::int64_t i) {
      float gradient = rstd[r] * (scaled(i) - level - normalised(i) * tilt);
      if (dabove != nullptr) gradient += dabove[first + i];
      dsum[first + i] = gradient;
      if (dbranch != nullptr) dbranch[first + i] = T(gradient);
    });
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
