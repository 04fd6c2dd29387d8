// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>

#include "common/kernels/cuda/pack.h"
#include "common/kernels/cuda/team.h"

namespace tandem::cuda {

struct MseBackwardElements {
  const float* prediction;
  const float* target;
  const float* loss_gradient;  // one element
  float* gradient;
  float two_over_count;

  [[nodiscard]] bool packed() const { return are_packed(prediction, target, gradient); }

  template <int width>
  TANDEM_DEVICE void at(std::int64_t i) const {
    const float factor = two_over_count * *loss_gradient;
    Pack<float, width> result = load<width>(prediction + i);
    const Pack<float, width> other = load<width>(target + i);
    for (int j = 0; j < width; ++j) result[j] = factor * (result[j] - other[j]);
    store(gradient + i, result);
  }
};

// The mean square of prediction - target; writes the gradient on the way unless it is null.
struct MseSum {
  const float* prediction;
  const float* target;
  float* gradient;  // or null
  float* loss;      // one element
  std::int64_t count;

  template <class Team>
  TANDEM_DEVICE double row(Team& team, std::int64_t r) const {
    const float factor = 2.0F / static_cast<float>(count);
    return sum_of_row(team, r, count, [&](std::int64_t i) {
      const float difference = prediction[i] - target[i];
      if (gradient != nullptr) gradient[i] = factor * difference;
      return static_cast<double>(difference) * static_cast<double>(difference);
    });
  }

  TANDEM_DEVICE void finish(double total) const {
    *loss = static_cast<float>(total / static_cast<double>(count));
  }
};

// Cross-entropy row by row, by a team (team.h). Two passes over the row: one for the logarithm of
// the sum of exponentials, one that writes the gradient.

struct ClassRows {
  const float* prediction;  // (rows, classes)
  const float* target;      // (rows)
  float* gradient;          // (rows, classes), may be prediction; or null
  std::int64_t classes;

  // Returns the row's loss; its gradient is `factor` times that of the loss.
  template <class Team>
  TANDEM_DEVICE float take(Team& team, std::int64_t r, float factor) const {
    const float* const row = prediction + r * classes;
    const auto right = static_cast<std::int64_t>(target[r]);
    const float of_right = row[right];  // before it may be overwritten
    const float log_sum = log_sum_of(team, classes, [&](std::int64_t c) { return row[c]; });
    if (gradient != nullptr) {
      team.each(classes, [&](std::int64_t c) {
        gradient[r * classes + c] =
            (std::exp(row[c] - log_sum) - (c == right ? 1.0F : 0.0F)) * factor;
      });
    }
    return log_sum - of_right;
  }
};

struct CrossEntropySum {
  ClassRows rows;
  float* loss;  // one element
  std::int64_t count;

  template <class Team>
  TANDEM_DEVICE double row(Team& team, std::int64_t r) const {
    return static_cast<double>(rows.take(team, r, 1.0F / static_cast<float>(count)));
  }

  TANDEM_DEVICE void finish(double total) const {
    *loss = static_cast<float>(total / static_cast<double>(count));
  }
};

struct CrossEntropyBackwardRows {
  ClassRows rows;
  const float* loss_gradient;  // one element
  std::int64_t count;

  template <class Team>
  TANDEM_DEVICE void row(Team& team, std::int64_t r) const {
    rows.take(team, r, *loss_gradient / static_cast<float>(count));
  }
};

}  // namespace tandem::cuda
