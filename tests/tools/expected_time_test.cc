// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdint>

#include "tools/tandem/run/progress.h"

namespace tandem::cli {
namespace {

TEST(ExpectedTime, GrowsWithWorkPerDevice_ButNotBelowWhatIsAskedFor) {
  const LaunchSettings settings{.min_time = "500ms", .min_samples = 10};
  const auto seconds = [&](double flops, std::int64_t batch, int devices, bool is_host) {
    results::Cell cell;
    cell.global_batch = batch;
    cell.devices = devices;
    return expected_time(cell, {.flops_per_sample = flops}, settings, is_host).count();
  };
  EXPECT_DOUBLE_EQ(seconds(0, 64, 2, true), 1.7);
  EXPECT_DOUBLE_EQ(seconds(1e3, 64, 2, true), 1.7);
  // A second a step: five of warm-up, ten samples.
  EXPECT_DOUBLE_EQ(seconds(50e9, 2, 2, true), 16);
  EXPECT_DOUBLE_EQ(seconds(50e9, 2, 1, true), 31);
  EXPECT_DOUBLE_EQ(seconds(50e9, 2, 2, false), 7.5);
}

TEST(ExpectedTime, OnGpus_IsThatOfThePrecision) {
  const auto seconds = [](const std::string& precision) {
    results::Cell cell;
    cell.global_batch = 10;
    cell.options["precision"] = precision;
    return expected_time(cell, {.flops_per_sample = 1e12}, {.min_time = "1s", .min_samples = 10},
                         false)
        .count();
  };
  EXPECT_DOUBLE_EQ(seconds("fp32"), 5 + 15);
  EXPECT_DOUBLE_EQ(seconds("bf16"), 5 + 2 + 1);
}

TEST(ExpectedTime, HoldsTheMakingOfTheModel) {
  const Seconds none = expected_time(results::Cell{}, {}, {.min_time = "1s"}, true);
  const Seconds large =
      expected_time(results::Cell{}, {.parameters = 1.5e9}, {.min_time = "1s"}, true);
  EXPECT_DOUBLE_EQ((large - none).count(), 15);
}

}  // namespace
}  // namespace tandem::cli
