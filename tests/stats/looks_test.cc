// SPDX-License-Identifier: Apache-2.0
#include "common/stats/looks.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "common/base/error.h"
#include "common/stats/estimate.h"
#include "tests/stats/simulated.h"

namespace tandem::stats {
namespace {

TEST(Looks, OneLook_HasTheWholeLevel) {
  const std::vector<double> levels = levels_of_looks({.first = 6, .last = 6, .level = 0.05});
  ASSERT_EQ(levels.size(), 1U);
  EXPECT_DOUBLE_EQ(levels[0], 0.05);
}

// Lan and DeMets, Biometrika 70, for alpha * t with a one-sided 0.025.
TEST(Looks, FiveLooks_HaveThePublishedBoundaries) {
  const std::vector<double> levels = levels_of_looks({.first = 1, .last = 5, .level = 0.05});
  const std::vector<double> boundaries{2.58, 2.49, 2.41, 2.34, 2.28};
  for (std::size_t look = 0; look < levels.size(); ++look) {
    EXPECT_NEAR(normal_quantile(1 - levels[look] / 2), boundaries[look], 0.006) << look;
  }
}

// Each level alone is below the error of all, and all together are above it, since looks at growing
// sums depend on each other.
TEST(Looks, TogetherTheyHaveTheLevel) {
  const Looks looks{.first = 4, .last = 16, .level = 0.05};
  const std::vector<double> levels = levels_of_looks(looks);
  EXPECT_GT(std::accumulate(levels.begin(), levels.end(), 0.0), looks.level);
  Simulated random(3);
  constexpr int kRuns = 100'000;
  int wrong = 0;
  for (int run = 0; run < kRuns; ++run) {
    double sum = 0;
    bool rejected = false;
    for (int round = 1; round <= looks.last; ++round) {
      sum += random.normal();
      if (round < looks.first) continue;
      const double p = 2 * normal_cdf(-std::abs(sum) / std::sqrt(round));
      rejected |= p < levels[static_cast<std::size_t>(round - looks.first)];
    }
    wrong += rejected ? 1 : 0;
  }
  EXPECT_NEAR(static_cast<double>(wrong) / kRuns, looks.level, 0.002);
}

TEST(Looks, WithoutRounds_OrWithoutALevel_AreALogicError) {
  EXPECT_THROW((void)levels_of_looks({.first = 5, .last = 4, .level = 0.05}), Error);
  EXPECT_THROW((void)levels_of_looks({.first = 0, .last = 4, .level = 0.05}), Error);
  EXPECT_THROW((void)levels_of_looks({.first = 1, .last = 4, .level = 0}), Error);
}

}  // namespace
}  // namespace tandem::stats
