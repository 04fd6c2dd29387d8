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

TEST(ProgressLine, HoldsWhatTheColumnsHold_CellFirst) {
  results::Cell cell;
  cell.strategy = "ddp";
  cell.launch = "processes";
  cell.model = "mlp-small#0123456789abcdef";
  cell.devices = 2;
  cell.global_batch = 512;
  const Announcement launch{.cell = cell,
                            .done = 16,
                            .total = 24,
                            .left = Seconds{130},
                            .open = {"open: mlp-small 512 (1 of 3 comparisons, 4m00s at most)",
                                     "open: mlp-small 512", "1 of 3 open"},
                            .known = "11.9 ms a step so far"};
  const std::string whole = "[17/24, 2m10s left] ddp, mlp-small, batch 512, 2 devices";
  EXPECT_EQ(progress_line(launch, 140), whole + "; " + launch.open[0] + "; " + launch.known);
  EXPECT_EQ(progress_line(launch, 80), whole + "; open: mlp-small 512");
  EXPECT_EQ(progress_line(launch, 60),
            "[17/24, 2m10s left] ddp, mlp-small 512; open: mlp-small 512");
  EXPECT_EQ(progress_line(launch, 40), "[17/24, 2m10s left] ddp, mlp-small 512");
  EXPECT_EQ(progress_line(launch, 20), "[17/24, 2m10s left]");
}

}  // namespace
}  // namespace tandem::cli
