// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>

#include "common/kernels/cuda/team.h"

namespace tandem::cuda {

// Attention's work on a row of scores between its products, by a team (team.h), in fp32. The
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
    const float log_sum = log_sum_of(
        team, seen, [&](ExponentialSum& sum, std::int64_t i) { sum.add(scale * own[i]); });
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
