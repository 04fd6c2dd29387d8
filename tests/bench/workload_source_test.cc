// SPDX-License-Identifier: Apache-2.0
#include "bench/step/workload_source.h"

#include <gtest/gtest.h>

#include "tests/support/workloads.h"

namespace tandem::bench {
namespace {

// By hand of tests/workloads/measured.json, at a batch of 4: forward of two layers, of which the
// second has two products, then backward of the second.
TEST(TimedPasses, ProductsTakeTheSecondsOfTheirPass_InTheOrderOfAStep) {
  const MeasuredModel times =
      times_of_passes(test::workload("measured"), Precision::kFp32, OptimizerOptions{});
  const auto products = times.operations.find("linear_forward 16x16, 3 operands");
  ASSERT_NE(products, times.operations.end());
  ASSERT_EQ(products->second.size(), 3U) << "one size a batch";
  EXPECT_EQ(products->second[1].batch, 4);
  EXPECT_EQ(products->second[1].flops, 2.0 * 4 * 16 * 16);
  EXPECT_EQ(products->second[1].seconds, (std::vector{2e-6, 2e-6, 2e-6, 3e-6, 3e-6, 2e-6}));
  for (const auto& [key, points] : times.operations) {
    if (key == products->first) continue;
    EXPECT_TRUE(key.starts_with("linear_")) << key << ": loss and update are no pass";
    for (const MeasuredPoint& point : points) {
      for (const double seconds : point.seconds) EXPECT_EQ(seconds, 0) << key;
    }
  }
}

}  // namespace
}  // namespace tandem::bench
