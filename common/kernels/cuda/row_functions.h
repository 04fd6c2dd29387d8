// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>

#include "common/base/rounding.h"
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

// Sums that leave one number, by teams which take some elements each as a row.

inline constexpr std::int64_t kElementsOfRow = 1024;

[[nodiscard]] constexpr std::int64_t rows_of(std::int64_t count) {
  return ceil_div(count, kElementsOfRow);
}

// The sum of term(i) over row r's elements.
template <class Team, class Term>
TANDEM_DEVICE double sum_of_row(Team& team, std::int64_t r, std::int64_t count, const Term& term) {
  const std::int64_t first = r * kElementsOfRow;
  const std::int64_t left = count - first;
  return sum_of(team, left < kElementsOfRow ? left : kElementsOfRow,
                [&](std::int64_t i) { return term(first + i); });
}

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

struct WeightedSumSum {
  const float* values;
  const float* weights;
  float* sum;  // one element
  std::int64_t count;

  template <class Team>
  TANDEM_DEVICE double row(Team& team, std::int64_t r) const {
    return sum_of_row(team, r, count, [&](std::int64_t i) {
      return static_cast<double>(values[i]) * static_cast<double>(weights[i]);
    });
  }

  TANDEM_DEVICE void finish(double total) const { *sum = static_cast<float>(total); }
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

// What attention does to a row of scores between its products, by a team (team.h), in fp32. The
// rows are those of some heads (attention.h), (batches, batch, positions), each `stride` elements
// long; each position sees the first ones, up to its own, and products read and write them up to
// the last that the position's band sees.

struct ScoreRows {
  std::int64_t positions;
  std::int64_t stride;
  std::int64_t band;           // positions
  std::int64_t batch;          // heads
  std::int64_t batches_apart;  // elements of log_sums, as apart: of a batch's heads
  std::int64_t apart;
  float scale;  // of the products

  [[nodiscard]] TANDEM_DEVICE std::int64_t seen(std::int64_t r) const { return r % positions + 1; }
  [[nodiscard]] TANDEM_DEVICE std::int64_t end(std::int64_t r) const {
    const std::int64_t of_band = (r % positions / band + 1) * band;
    return of_band < positions ? of_band : positions;
  }
  [[nodiscard]] TANDEM_DEVICE std::int64_t first(std::int64_t r) const { return r * stride; }
  [[nodiscard]] TANDEM_DEVICE std::int64_t log_sum(std::int64_t r) const {
    const std::int64_t head = r / positions;
    return head / batch * batches_apart + head % batch * apart + r % positions;
  }
};

// Products become probabilities, zero for what is not seen, which the next product reads too.
template <class T>
struct SoftmaxRows {
  ScoreRows rows;
  const float* products;
  T* probabilities;  // may be products
  float* log_sums;

  template <class Team>
  TANDEM_DEVICE void row(Team& team, std::int64_t r) const {
    const float* const own = products + rows.first(r);
    T* const result = probabilities + rows.first(r);
    const std::int64_t seen = rows.seen(r);
    const float scale = rows.scale;
    const float log_sum = log_sum_of(team, seen, [&](std::int64_t i) { return scale * own[i]; });
    team.each(rows.end(r), [&](std::int64_t i) {
      result[i] = T(i < seen ? std::exp(scale * own[i] - log_sum) : 0.0F);
    });
    team.alone([&] { log_sums[rows.log_sum(r)] = log_sum; });
  }
};

// Products become probabilities again, and the gradients of those, dp = dy . v, the gradients of
// the products: scale p (dp - sum(p dp)). That sum is dy . y, but taken from what is summed here
// the row's gradients add up to zero.
template <class T>
struct SoftmaxBackwardRows {
  ScoreRows rows;
  const float* products;
  const float* log_sums;
  const float* dprobabilities;
  T* probabilities;  // may be products
  T* dproducts;      // may be dprobabilities

  template <class Team>
  TANDEM_DEVICE void row(Team& team, std::int64_t r) const {
    const std::int64_t first = rows.first(r);
    const std::int64_t seen = rows.seen(r);
    const float log_sum = log_sums[rows.log_sum(r)];
    const auto probability = [&](std::int64_t i) {
      return std::exp(rows.scale * products[first + i] - log_sum);
    };
    const float level = sum_of(
        team, seen, [&](std::int64_t i) { return probability(i) * dprobabilities[first + i]; });
    team.each(rows.end(r), [&](std::int64_t i) {
      const float p = i < seen ? probability(i) : 0.0F;
      const float slope = i < seen ? rows.scale * p * (dprobabilities[first + i] - level) : 0.0F;
      probabilities[first + i] = T(p);
      dproducts[first + i] = T(slope);
    });
  }
};

}  // namespace tandem::cuda
