// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>

#include "common/kernels/cuda/pack.h"
#include "common/kernels/cuda/team.h"

namespace tandem::cuda {

template <class T>
struct MseBackwardElements {
  const T* prediction;
  const float* target;
  const float* loss_gradient;  // one element
  T* gradient;
  float two_over_count;

  [[nodiscard]] bool packed() const { return are_packed(prediction, target, gradient); }

  template <int width>
  TANDEM_DEVICE void at(std::int64_t i) const {
    const float factor = two_over_count * *loss_gradient;
    Pack<T, width> result = load<width>(prediction + i);
    const Pack<float, width> other = load<width>(target + i);
    for (int j = 0; j < width; ++j) {
      result[j] = T(factor * (static_cast<float>(result[j]) - other[j]));
    }
    store(gradient + i, result);
  }
};

// The mean square of prediction - target; writes the gradient on the way unless it is null.
template <class T>
struct MseSum {
  const T* prediction;
  const float* target;
  T* gradient;  // or null
  float* loss;  // one element
  std::int64_t count;

  template <class Team>
  TANDEM_DEVICE double row(Team& team, std::int64_t r) const {
    const float factor = 2.0F / static_cast<float>(count);
    return sum_of_row(team, r, count, [&](std::int64_t i) {
      const float difference = static_cast<float>(prediction[i]) - target[i];
      if (gradient != nullptr) gradient[i] = T(factor * difference);
      return static_cast<double>(difference) * static_cast<double>(difference);
    });
  }

  TANDEM_DEVICE void finish(double total) const {
    *loss = static_cast<float>(total / static_cast<double>(count));
  }
};

// Cross-entropy row by row, by a team (team.h). Two passes over the row: one for the logarithm of
// the sum of exponentials, one that writes the gradient.
template <class T>
struct CrossEntropyRows {
  const T* prediction;                   // (rows, classes + padding)
  const float* target;                   // (rows)
  const float* loss_gradient = nullptr;  // one element, or null: 1
  T* gradient;                           // (rows, classes + padding), may be prediction; or null
  float* loss = nullptr;                 // one element, for finish()
  std::int64_t count;                    // rows
  std::int64_t classes;
  std::int64_t padding;
  bool packed = false;  // each row may be taken in packs of kWidestPack<T>

  // Returns the row's loss.
  template <class Team>
  TANDEM_DEVICE double row(Team& team, std::int64_t r) const {
    return packed ? take<kWidestPack<T>>(team, r) : take<1>(team, r);
  }

  TANDEM_DEVICE void finish(double total) const {
    *loss = static_cast<float>(total / static_cast<double>(count));
  }

 private:
  template <int width, class Team>
  TANDEM_DEVICE float take(Team& team, std::int64_t r) const {
    const float factor =
        (loss_gradient == nullptr ? 1.0F : *loss_gradient) / static_cast<float>(count);
    const std::int64_t first = r * (classes + padding);
    const T* const row = prediction + first;
    const auto right = static_cast<std::int64_t>(target[r]);
    const auto of_right = static_cast<float>(row[right]);  // before it may be overwritten
    const std::int64_t packs = (classes + padding) / width;
    const float log_sum = log_sum_of(team, packs, [&](ExponentialSum& sum, std::int64_t i) {
      const Pack<T, width> values = load<width>(row + width * i);
      for (int j = 0; j < width; ++j) {
        if (width * i + j < classes) sum.add(static_cast<float>(values[j]));
      }
    });
    if (gradient == nullptr) return log_sum - of_right;
    team.each(packs, [&](std::int64_t i) {
      Pack<T, width> values = load<width>(row + width * i);
      for (int j = 0; j < width; ++j) {
        const std::int64_t c = width * i + j;
        const float probability = std::exp(static_cast<float>(values[j]) - log_sum);
        values[j] = T(c < classes ? (probability - (c == right ? 1.0F : 0.0F)) * factor : 0.0F);
      }
      store(gradient + first + width * i, values);
    });
    return log_sum - of_right;
  }
};

}  // namespace tandem::cuda
