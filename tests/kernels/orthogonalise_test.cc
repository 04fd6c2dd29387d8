// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>

#include "common/kernels/host/vector_math.h"
#include "tests/kernels/operations_fixture.h"

namespace tandem {
namespace {

class Orthogonal : public OperationsFixture {
 public:
  static void expect_orthonormal(const Orthogonalise& op) {
    const std::int64_t columns = op.matrix.size() / op.rows;
    for (std::int64_t a = 0; a < op.rows; ++a) {
      for (std::int64_t b = 0; b <= a; ++b) {
        const double product = host::dot_product(columns, op.matrix.data() + a * columns,
                                                 op.matrix.data() + b * columns);
        EXPECT_NEAR(product, a == b ? 1 : 0, 2e-6) << "rows " << a << ", " << b;
      }
    }
  }

  // How much of `row` lies outside the span of the orthonormal rows.
  static double outside(std::vector<float> row, const Orthogonalise& op) {
    const auto columns = static_cast<std::int64_t>(row.size());
    for (std::int64_t r = 0; r < op.rows; ++r) {
      const float* const direction = op.matrix.data() + r * columns;
      const double along = host::dot_product(columns, row.data(), direction);
      for (std::size_t i = 0; i < row.size(); ++i) {
        row[i] -= static_cast<float>(along) * direction[i];
      }
    }
    return std::sqrt(host::dot_product(columns, row.data(), row.data()));
  }
};

TEST_F(Orthogonal, RandomRows_AgreeWithNaive) {
  struct Size {
    std::int64_t rows;
    std::int64_t columns;
  };
  for (const Size& size : {Size{1, 1}, {1, 100}, {2, 7}, {4, 33}, {8, 1000}, {32, 4097}}) {
    const Orthogonalise actual{.rows = size.rows, .matrix = random(size.rows * size.columns)};
    const Orthogonalise expected{.rows = size.rows, .matrix = copy_of(actual.matrix)};
    run(actual);
    naive(expected);
    expect_near(actual.matrix, expected.matrix, 1e-5);
    expect_orthonormal(actual);
  }
}

TEST_F(Orthogonal, RowsByHand_AreTheAxes) {
  const Orthogonalise op{.rows = 2, .matrix = filled({3, 0, 4, 5, 5, 0})};
  run(op);
  // 5 5 0 less 3 times the first is 3.2 5 -2.4, of length sqrt(41).
  const float length = std::sqrt(41.0F);
  expect_near(op.matrix, filled({0.6F, 0, 0.8F, 3.2F / length, 5 / length, -2.4F / length}), 1e-6);
}

// One pass would leave the second row hardly orthogonal to the first.
TEST_F(Orthogonal, NearlyParallelRows_EndOrthogonalAndKeepTheirSpan) {
  std::vector<float> first(500);
  for (std::size_t i = 0; i < first.size(); ++i) {
    first[i] = 1 + 0.001F * static_cast<float>(i % 7);
  }
  std::vector<float> second = first;
  second[17] += 1e-4F;
  std::vector<float> both = first;
  both.insert(both.end(), second.begin(), second.end());
  const Orthogonalise op{.rows = 2, .matrix = filled(both)};
  run(op);
  expect_orthonormal(op);
  EXPECT_LT(outside(first, op), 1e-4);
  EXPECT_LT(outside(second, op), 1e-4);
}

TEST_F(Orthogonal, DependentRows_AreCompletedToABasis) {
  const Span<float> rows = random(5 * 64);
  for (std::int64_t i = 0; i < 64; ++i) {
    rows.data()[2 * 64 + i] = 0.25F * rows.data()[i] - rows.data()[64 + i];  // of both before
    rows.data()[3 * 64 + i] = 0;
  }
  const Orthogonalise op{.rows = 5, .matrix = rows};
  run(op);
  expect_orthonormal(op);
}

TEST_F(Orthogonal, AMatrixOfZeros_BecomesUnitVectors) {
  const Orthogonalise actual{.rows = 3, .matrix = zeros(3 * 3)};
  run(actual);
  expect_equal(actual.matrix, filled({1, 0, 0, 0, 1, 0, 0, 0, 1}));
  const Orthogonalise expected{.rows = 3, .matrix = zeros(3 * 3)};
  naive(expected);
  expect_equal(actual.matrix, expected.matrix);
}

TEST_F(Orthogonal, ANanOrInfinity_ReachesItsRowAndThoseAfterIt) {
  for (const float bad : {std::nanf(""), std::numeric_limits<float>::infinity()}) {
    const Orthogonalise op{.rows = 3, .matrix = random(3 * 5)};
    op.matrix.data()[5] = bad;  // of the second row
    run(op);
    EXPECT_FALSE(std::isnan(op.matrix.data()[0]));
    EXPECT_TRUE(std::isnan(op.matrix.data()[5]));
    EXPECT_TRUE(std::isnan(op.matrix.data()[10]));
  }
}

TEST_F(Orthogonal, MoreRowsThanColumns_AreALogicError) {
  EXPECT_THROW(run(Orthogonalise{.rows = 3, .matrix = zeros(6)}), Error);
  EXPECT_THROW(run(Orthogonalise{.rows = 2, .matrix = zeros(5)}), Error);
  EXPECT_THROW(run(Orthogonalise{.rows = 0, .matrix = zeros(5)}), Error);
}

}  // namespace
}  // namespace tandem
