// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/project/step_memory.h"

#include <gtest/gtest.h>

#include "common/base/units.h"

namespace tandem::cli {
namespace {

// 1 GB and 100 MB a sample, listed at 10 samples; each device of dp returns 50 MB.
constexpr std::int64_t kMb = 1'000'000;
const ModuleFacts kFacts{
    .name = "own.py:build",
    .unused = "",
    .peak_bytes = 2000 * kMb,
    .sample_bytes = 100 * kMb,
    .batch = 10,
    .wrapped = {
        .dp_root = 2300 * kMb, .dp_other = 1900 * kMb, .dp_device = 50 * kMb, .ddp = 2200 * kMb}};

TEST(StepMemory, StrategiesAddTheirOwnToOneDevices) {
  const StepPeaks one = peaks_of_module(kFacts, "single", 1);
  ASSERT_EQ(one.size(), 1U);
  EXPECT_EQ(one.front().tensors(20).value, 3000 * kMb);
  EXPECT_EQ(peaks_of_module(kFacts, "ddp", 4).front().tensors(20).value, 3200 * kMb);
  const StepPeaks dp = peaks_of_module(kFacts, "dp", 4);
  ASSERT_EQ(dp.size(), 2U);
  EXPECT_EQ(dp.front().tensors(10).value, 2400 * kMb);
  EXPECT_EQ(dp.front().tensors(20).value, 3600 * kMb);  // four devices return 20 MB a sample
  EXPECT_EQ(dp.back().tensors(20).value, 2900 * kMb);
}

TEST(StepMemory, TheLargestBatchThatFitsFits) {
  const Bytes memory = gib(16);
  for (const char* strategy : {"single", "dp", "ddp"}) {
    const int devices = std::string(strategy) == "single" ? 1 : 4;
    const StepPeaks peaks = peaks_of_module(kFacts, strategy, devices);
    const std::int64_t most = most_samples(peaks, memory);
    EXPECT_GT(most, 100) << strategy;
    EXPECT_EQ(why_not_fitting(peaks, most, devices, memory), "") << strategy;
    EXPECT_NE(why_not_fitting(peaks, most + 1, devices, memory), "") << strategy;
  }
}

TEST(StepMemory, WithoutMemoryOfASample_AnyBatchFitsOrNone) {
  EXPECT_EQ(DevicePeak{.constant = 1e9}.most_samples(gib(16)), kAnySamples);
  EXPECT_EQ(DevicePeak{.constant = 1e9}.most_samples(mib(500)), 0);
}

TEST(StepMemory, OfMicroBatchesADeviceHoldsOne) {
  const DevicePeak peak{.constant = 1e9, .sample = 1e8, .beside = 0, .pieces = 4};
  EXPECT_EQ(peak.tensors(8).value, 1200 * kMb);
  EXPECT_EQ(peak.most_samples(Bytes{2385 * kMb}), 48);  // 12.5 samples a piece, gaps aside
}

TEST(StepMemory, AModelThatFitsNoBatchIsSaidSo) {
  EXPECT_EQ(why_not_fitting(peaks_of_module(kFacts, "single", 1), 1, 1, gib(1)),
            "out of memory: a step needs 1.8 GiB of 1.0 GiB; no batch fits");
}

}  // namespace
}  // namespace tandem::cli
