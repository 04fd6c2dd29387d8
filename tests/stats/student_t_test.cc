// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "common/stats/distributions.h"

namespace tandem::stats {
namespace {

struct TableRow {
  double confidence;
  double degrees;
  double critical;
};

class StudentTable : public testing::TestWithParam<TableRow> {};

// Printed tables (three decimals), e.g. NIST/SEMATECH e-Handbook, 1.3.6.7.2.
TEST_P(StudentTable, Critical_MatchesThePrintedValue) {
  const TableRow row = GetParam();
  EXPECT_NEAR(student_t_critical(row.confidence, row.degrees), row.critical, 5e-4);
}

INSTANTIATE_TEST_SUITE_P(Nist, StudentTable,
                         testing::Values(TableRow{0.95, 1, 12.706}, TableRow{0.95, 2, 4.303},
                                         TableRow{0.95, 3, 3.182}, TableRow{0.95, 4, 2.776},
                                         TableRow{0.95, 5, 2.571}, TableRow{0.95, 6, 2.447},
                                         TableRow{0.95, 10, 2.228}, TableRow{0.95, 19, 2.093},
                                         TableRow{0.95, 30, 2.042}, TableRow{0.95, 100, 1.984},
                                         TableRow{0.99, 5, 4.032}, TableRow{0.90, 5, 2.015},
                                         TableRow{0.998, 1, 318.309}, TableRow{0.95, 1e7, 1.960}));

// One and two degrees of freedom have closed forms: full accuracy can be asked for.
TEST(StudentT, Critical_OneDegree_IsATangent) {
  for (const double confidence : {0.01, 0.5, 0.9, 0.95, 0.999}) {
    const double exact = std::tan(std::numbers::pi * confidence / 2);
    EXPECT_NEAR(student_t_critical(confidence, 1) / exact, 1, 1e-12) << confidence;
  }
}

TEST(StudentT, Critical_TwoDegrees_IsAlgebraic) {
  for (const double c : {0.01, 0.5, 0.9, 0.95, 0.999}) {
    const double exact = c * std::sqrt(2 / (1 - c * c));
    EXPECT_NEAR(student_t_critical(c, 2) / exact, 1, 1e-12) << c;
  }
}

TEST(StudentT, Critical_FallsAsDegreesGrow_AlsoBetweenWholeNumbers) {
  EXPECT_GT(student_t_critical(0.95, 5), student_t_critical(0.95, 5.5));
  EXPECT_GT(student_t_critical(0.95, 5.5), student_t_critical(0.95, 6));
}

}  // namespace
}  // namespace tandem::stats
