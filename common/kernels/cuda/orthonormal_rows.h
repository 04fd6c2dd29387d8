// SPDX-License-Identifier: Apache-2.0
//
// Orthogonalise as the steps of a team (team.h), which starts with the matrix as it was given.
#pragma once

#include <cmath>
#include <cstdint>

#include "common/kernels/cuda/team.h"

namespace tandem::cuda {

// The method and its thresholds are the host's (host/orthogonalise.cc).
template <class Team>
class OrthonormalRows {
 public:
  TANDEM_DEVICE OrthonormalRows(Team& team, float* first, std::int64_t columns)
      : team_(team), first_(first), columns_(columns) {}

  // Rows 0 .. row - 1 are orthonormal already.
  TANDEM_DEVICE void orthonormalise(std::int64_t row) {
    const double once = project(row);
    const double twice = row == 0 ? once : project(row);
    // What a second pass removes as well was the first one's rounding error.
    const bool nothing_left = twice == 0 || twice < 0.1 * once;
    if (nothing_left) {
      complete(row);
    } else {
      multiply(at(row), 1 / twice);
    }
  }

 private:
  [[nodiscard]] TANDEM_DEVICE float* at(std::int64_t row) const { return first_ + row * columns_; }

  TANDEM_DEVICE double dot(const float* a, const float* b) {
    return sum_of(team_, columns_, [=](std::int64_t i) {
      return static_cast<double>(a[i]) * static_cast<double>(b[i]);
    });
  }

  TANDEM_DEVICE void multiply(float* row, double factor) {
    team_.each(columns_, [=](std::int64_t i) { row[i] = static_cast<float>(row[i] * factor); });
  }

  // Removes what lies along the rows before; returns the length of what is left.
  TANDEM_DEVICE double project(std::int64_t row) {
    float* const own = at(row);
    for (std::int64_t before = 0; before < row; ++before) {
      const float* const direction = at(before);
      const auto along = static_cast<float>(dot(own, direction));
      team_.each(columns_, [=](std::int64_t i) { own[i] -= along * direction[i]; });
    }
    return std::sqrt(dot(own, own));
  }

  // The squares of what the unit vectors have left sum to columns - row, so that one of them has
  // at least 1 / columns.
  TANDEM_DEVICE void complete(std::int64_t row) {
    const double enough = std::sqrt(0.5 / static_cast<double>(columns_));
    float* const own = at(row);
    for (std::int64_t unit = 0; unit < columns_; ++unit) {
      team_.each(columns_, [=](std::int64_t i) { own[i] = i == unit ? 1.0F : 0.0F; });
      if (project(row) < enough) continue;
      multiply(own, 1 / project(row));
      return;
    }
  }

  Team& team_;
  float* const first_;
  const std::int64_t columns_;
};

template <class Team>
TANDEM_DEVICE void orthonormalise_rows(Team& team, std::int64_t rows, std::int64_t columns,
                                       float* matrix /* (rows, columns) */) {
  OrthonormalRows<Team> all(team, matrix, columns);
  for (std::int64_t row = 0; row < rows; ++row) all.orthonormalise(row);
}

}  // namespace tandem::cuda
