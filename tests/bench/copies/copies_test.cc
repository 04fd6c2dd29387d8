// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "bench/copies/copy_run.h"
#include "tests/support/host_devices.h"

namespace tandem::bench {
namespace {

std::vector<std::string> names(const std::vector<CopyCase>& cases) {
  std::vector<std::string> found;
  for (const CopyCase& copy : cases) found.push_back(name_of(copy, Backend::kHost));
  return found;
}

TEST(CopyCases, OneWay_ArePairsWithADevice) {
  const std::vector<std::string> expected{
      "copy/from:host:0/to:host:0/bytes:1024", "copy/from:host:0/to:pinned/bytes:1024",
      "copy/from:host:0/to:pageable/bytes:1024", "copy/from:pinned/to:host:0/bytes:1024",
      "copy/from:pageable/to:host:0/bytes:1024"};
  EXPECT_EQ(names(copy_cases(1, Ways::kOne, kib(1))), expected);
  EXPECT_EQ(copy_cases(3, Ways::kOne, kib(1)).size(), 3U * 3 + 3 * 4);
}

TEST(CopyCases, BothWays_AreEveryTwoOnceWithoutPageable) {
  const std::vector<std::string> expected{"copy/from:host:0/to:host:1/both_ways/bytes:1024",
                                          "copy/from:host:0/to:pinned/both_ways/bytes:1024",
                                          "copy/from:host:1/to:pinned/both_ways/bytes:1024"};
  EXPECT_EQ(names(copy_cases(2, Ways::kBoth, kib(1))), expected);
}

TEST(CopyCases, BothWays_MoveTwiceTheSize) {
  EXPECT_EQ((CopyCase{.ways = Ways::kBoth, .size = kib(1)}).bytes_moved(), kib(2));
  EXPECT_EQ((CopyCase{.ways = Ways::kOne, .size = kib(1)}).bytes_moved(), kib(1));
}

TEST(CopyCases, Rows_AreAsLongAsNvbandwidths_AndShorterOfLongCopies) {
  const CopyCase copy{.from = {}, .to = {Endpoint::Kind::kPinned}, .size = kib(1)};
  EXPECT_EQ(copies_in_a_row(copy, Seconds(1e-5)), 16);
  EXPECT_EQ(copies_in_a_row(copy, Seconds(1e-3)), 5);
  EXPECT_EQ(copies_in_a_row(copy, Seconds(1)), 1);
  const CopyCase pageable{.from = {Endpoint::Kind::kPageable}, .to = {}, .size = kib(1)};
  EXPECT_EQ(copies_in_a_row(pageable, Seconds(1e-5)), 1);
}

TEST(CopyRun, EveryPair_LeavesNoWrongElement) {
  const auto platform = test::host_devices(2);
  for (const Ways ways : {Ways::kOne, Ways::kBoth}) {
    for (const CopyCase& copy : copy_cases(2, ways, Bytes{4 * 1031})) {
      const CopyResult result = measure_copy(*platform, copy, 2);
      EXPECT_EQ(result.wrong, "") << name_of(copy, Backend::kHost);
      EXPECT_EQ(result.seconds.size(), 2U);
      EXPECT_TRUE(result.host_seconds.empty());  // cores have the clock of the host alone
    }
  }
}

TEST(CopyRun, TargetThatWasNotCopiedTo_IsFound) {
  const auto platform = test::host_devices(2);
  const Endpoint first{Endpoint::Kind::kDevice, 0};
  const Endpoint second{Endpoint::Kind::kDevice, 1};
  OneWayCopy copy(*platform, first, second, kib(4), 0);
  copy.load();
  const WrongElements before = copy.check();
  EXPECT_EQ(before.wrong, 1024);
  EXPECT_EQ(before.first.value().index, 0);
  EXPECT_EQ(before.first.value().got, -1);
  copy.enqueue();
  copy.synchronize();
  EXPECT_EQ(copy.check().wrong, 0);
}

TEST(CopyRun, ARow_IsTimedFromItsStartToItsEnd_WithoutTheTimeItWasHeldBack) {
  const auto platform = test::host_devices(2);
  const Endpoint first{Endpoint::Kind::kDevice, 0};
  const Endpoint second{Endpoint::Kind::kDevice, 1};
  OneWayCopy copy(*platform, first, second, kib(4), 0);
  copy.load();
  const TimePoint start = Clock::now();
  copy.enqueue_timed(3, start + std::chrono::milliseconds(20));
  copy.synchronize();
  const Nanoseconds took = Clock::now() - start;
  EXPECT_GE(took, std::chrono::milliseconds(20));
  EXPECT_GT(copy.timed().count(), 0);
  EXPECT_LE(copy.timed(), took - std::chrono::milliseconds(20));
  EXPECT_EQ(copy.check().wrong, 0);
}

TEST(CopyRun, TheOtherWay_IsHeldBackWithTheFirst) {
  const auto platform = test::host_devices(2);
  const Endpoint first{Endpoint::Kind::kDevice, 0};
  const Endpoint second{Endpoint::Kind::kDevice, 1};
  OneWayCopy there(*platform, first, second, kib(4), 0);
  OneWayCopy back(*platform, second, first, kib(4), 1);
  const TimePoint start = Clock::now();
  there.enqueue_timed(3, start + std::chrono::milliseconds(20));
  back.enqueue_timed(3, there);
  back.synchronize();
  EXPECT_GE(Clock::now() - start, std::chrono::milliseconds(20));
  EXPECT_LT(back.timed(), std::chrono::milliseconds(20));
}

TEST(CopyRun, WhatDoesNotFit_IsSkippedWithItsReason) {
  const auto platform =
      host::make_host_platform({.devices = 1, .oversubscribe = true, .device_memory = {mib(1)}});
  const CopyResult result = measure_copy(*platform, copy_cases(1, Ways::kOne, mib(2)).front(), 2);
  EXPECT_NE(result.skipped.find("host:0 is out of memory: 2.0 MiB asked"), std::string::npos)
      << result.skipped;
}

}  // namespace
}  // namespace tandem::bench
