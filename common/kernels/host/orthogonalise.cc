// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "common/base/vector_clones.h"
#include "common/kernels/elementwise.h"
#include "common/kernels/host/vector_math.h"

namespace tandem::host {
namespace {

TANDEM_VECTOR_CLONES
void subtract_multiple(std::int64_t count, float* from, const float* direction, float factor) {
  for (std::int64_t i = 0; i < count; ++i) from[i] -= factor * direction[i];
}

TANDEM_VECTOR_CLONES
void multiply(std::int64_t count, float* values, double factor) {
  for (std::int64_t i = 0; i < count; ++i) values[i] = static_cast<float>(values[i] * factor);
}

class Rows {
 public:
  Rows(float* first, std::int64_t columns) : first_(first), columns_(columns) {}

  // Makes row `row` orthonormal to rows 0 .. row - 1, which are orthonormal already.
  void orthonormalise(std::int64_t row) {
    const double once = project(row);
    const double twice = row == 0 ? once : project(row);
    // Where a second pass removes most of the rest, the rest was the first pass's rounding error.
    const bool nothing_left = twice == 0 || twice < 0.1 * once;
    if (!nothing_left) return multiply(columns_, at(row), 1 / twice);
    complete(row);
  }

 private:
  [[nodiscard]] float* at(std::int64_t row) const { return first_ + row * columns_; }

  // Removes from the row its part along the rows before; returns the length of the remainder.
  double project(std::int64_t row) {
    for (std::int64_t before = 0; before < row; ++before) {
      const double along = dot_product(columns_, at(row), at(before));
      subtract_multiple(columns_, at(row), at(before), static_cast<float>(along));
    }
    return std::sqrt(dot_product(columns_, at(row), at(row)));
  }

  // Completes the basis with a unit vector's remainder. The squared remainders of all unit vectors
  // sum to columns - row, so that one of the remainders has at least 1 / columns.
  void complete(std::int64_t row) {
    const double enough = std::sqrt(0.5 / static_cast<double>(columns_));
    for (std::int64_t unit = 0; unit < columns_; ++unit) {
      std::fill_n(at(row), columns_, 0.0F);
      at(row)[unit] = 1;
      if (project(row) < enough) continue;
      return multiply(columns_, at(row), 1 / project(row));
    }
  }

  float* const first_;
  const std::int64_t columns_;
};

}  // namespace

void run(const Orthogonalise& op) {
  Rows rows(op.matrix.data(), op.matrix.size() / op.rows);
  for (std::int64_t row = 0; row < op.rows; ++row) rows.orthonormalise(row);
}

}  // namespace tandem::host
