// SPDX-License-Identifier: Apache-2.0
#include "common/kernels/host/orthogonalise.h"

#include <algorithm>
#include <cmath>

#include "common/base/vector_clones.h"
#include "common/kernels/host/dot_product.h"

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

  // Rows 0 .. row - 1 are orthonormal already.
  void orthonormalise(std::int64_t row) {
    const double once = project(row);
    const double twice = row == 0 ? once : project(row);
    // What a second pass removes as well was the first one's rounding error.
    const bool nothing_left = twice == 0 || twice < 0.1 * once;
    if (!nothing_left) return multiply(columns_, at(row), 1 / twice);
    complete(row);
  }

 private:
  [[nodiscard]] float* at(std::int64_t row) const { return first_ + row * columns_; }

  // Removes what lies along the rows before; returns the length of what is left.
  double project(std::int64_t row) {
    for (std::int64_t before = 0; before < row; ++before) {
      const double along = dot_product(columns_, at(row), at(before));
      subtract_multiple(columns_, at(row), at(before), static_cast<float>(along));
    }
    return std::sqrt(dot_product(columns_, at(row), at(row)));
  }

  // The squares of what the unit vectors have left sum to columns - row, so that one of them has
  // at least 1 / columns.
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
