// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "bench/driver/sampler.h"

namespace tandem::bench {
namespace {

std::vector<double> up_to(int last) {
  std::vector<double> values(static_cast<std::size_t>(last));
  std::iota(values.begin(), values.end(), 1.0);
  return values;
}

TEST(TimeSummary, Percentiles_AreByNearestRank) {
  const TimeSummary summary = summarise(up_to(50));
  EXPECT_DOUBLE_EQ(summary.p50, 25);
  EXPECT_DOUBLE_EQ(summary.p95, 48);
}

TEST(TimeSummary, P99_NeedsAThousandSamples) {
  EXPECT_FALSE(summarise(up_to(999)).p99.has_value());
  EXPECT_DOUBLE_EQ(summarise(up_to(1000)).p99.value(), 990);
}

}  // namespace
}  // namespace tandem::bench
