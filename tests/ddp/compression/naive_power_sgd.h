// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <vector>

#include "tests/ddp/compression/hook_run.h"

namespace tandem::test {

// A matrix in double, for plain loops.
struct Dense {
  Dense(std::size_t row_count, std::size_t column_count)
      : rows(row_count), columns(column_count), values(row_count * column_count, 0) {}

  double& at(std::size_t row, std::size_t column) { return values[row * columns + column]; }
  [[nodiscard]] double at(std::size_t row, std::size_t column) const {
    return values[row * columns + column];
  }

  std::size_t rows;
  std::size_t columns;
  std::vector<double> values;
};

[[nodiscard]] inline Dense product(const Dense& a, const Dense& b) {
  Dense c(a.rows, b.columns);
  for (std::size_t i = 0; i < a.rows; ++i) {
    for (std::size_t j = 0; j < b.columns; ++j) {
      for (std::size_t k = 0; k < a.columns; ++k) c.at(i, j) += a.at(i, k) * b.at(k, j);
    }
  }
  return c;
}

[[nodiscard]] inline Dense transposed(const Dense& a) {
  Dense t(a.columns, a.rows);
  for (std::size_t i = 0; i < a.rows; ++i) {
    for (std::size_t j = 0; j < a.columns; ++j) t.at(j, i) = a.at(i, j);
  }
  return t;
}

// Columns, as in the textbook; they are not dependent.
inline void orthonormalise(Dense& a) {
  for (std::size_t j = 0; j < a.columns; ++j) {
    for (std::size_t before = 0; before < j; ++before) {
      double along = 0;
      for (std::size_t i = 0; i < a.rows; ++i) along += a.at(i, j) * a.at(i, before);
      for (std::size_t i = 0; i < a.rows; ++i) a.at(i, j) -= along * a.at(i, before);
    }
    double square = 0;
    for (std::size_t i = 0; i < a.rows; ++i) square += a.at(i, j) * a.at(i, j);
    for (std::size_t i = 0; i < a.rows; ++i) a.at(i, j) /= std::sqrt(square);
  }
}

// PowerSGD of one matrix on all ranks at once, written down from its definition.
class NaivePowerSgd {
 public:
  // `first_random` numbers of the seed went to the matrices before.
  NaivePowerSgd(std::size_t rows, std::size_t columns, std::size_t rank, int ranks,
                std::uint64_t seed, std::uint64_t first_random)
      : q_(columns, rank), errors_(static_cast<std::size_t>(ranks), Dense(rows, columns)) {
    Values random(columns * rank);
    fill_uniform(random, seed, first_random, 1);
    for (std::size_t k = 0; k < rank; ++k) {  // column after column
      for (std::size_t j = 0; j < columns; ++j) q_.at(j, k) = double{random[k * columns + j]};
    }
  }

  // What takes the place of the average of the ranks' gradients.
  [[nodiscard]] Dense step(const std::vector<Values>& gradients) {
    std::vector<Dense> with_error = errors_;
    for (std::size_t rank = 0; rank < gradients.size(); ++rank) {
      for (std::size_t i = 0; i < gradients[rank].size(); ++i) {
        with_error[rank].values[i] += double{gradients[rank][i]};
      }
    }
    orthonormalise(q_);
    Dense p = average(with_error, [this](const Dense& m) { return product(m, q_); });
    orthonormalise(p);
    q_ = average(with_error, [&p](const Dense& m) { return product(transposed(m), p); });
    Dense result = product(p, transposed(q_));
    for (std::size_t rank = 0; rank < errors_.size(); ++rank) {
      for (std::size_t i = 0; i < result.values.size(); ++i) {
        errors_[rank].values[i] = with_error[rank].values[i] - result.values[i];
      }
    }
    return result;
  }

 private:
  template <class Function>
  static Dense average(const std::vector<Dense>& of_rank, const Function& function) {
    Dense sum = function(of_rank.front());
    for (std::size_t rank = 1; rank < of_rank.size(); ++rank) {
      const Dense theirs = function(of_rank[rank]);
      for (std::size_t i = 0; i < sum.values.size(); ++i) sum.values[i] += theirs.values[i];
    }
    for (double& value : sum.values) value /= static_cast<double>(of_rank.size());
    return sum;
  }

  Dense q_;  // (columns, rank)
  std::vector<Dense> errors_;
};

}  // namespace tandem::test
