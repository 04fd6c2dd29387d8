// SPDX-License-Identifier: Apache-2.0
#include "bench/kernels/measured_peaks.h"

#include <gtest/gtest.h>

#include "common/runtime/host/host_platform.h"
#include "tests/support/errors.h"

namespace tandem::bench {
namespace {

TEST(MeasuredPeaksTest, EachUnit_IsMeasuredOnce) {
  const auto platform = host::make_host_platform({.device_memory = {Bytes{64 << 20}}});
  MeasuredPeaks peaks(*platform, Precision::kFp32);
  for (const char* unit : {"gflops", "GB/s"}) {
    const double peak = peaks.of(unit);
    EXPECT_GT(peak, 0) << unit;
    EXPECT_EQ(peaks.of(unit), peak) << unit;
  }
}

TEST(MeasuredPeaksTest, NothingFits_IsNoPeak) {
  const auto platform = host::make_host_platform({.device_memory = {Bytes{4}}});
  EXPECT_EQ(MeasuredPeaks(*platform, Precision::kFp32).of("GB/s"), 0);
}

TEST(MeasuredPeaksTest, OtherUnit_IsALogicError) {
  const auto platform = host::make_host_platform({});
  MeasuredPeaks peaks(*platform, Precision::kFp32);
  EXPECT_EQ(test::error_of([&] { static_cast<void>(peaks.of("furlongs")); }).kind(),
            ErrorKind::kLogic);
}

}  // namespace
}  // namespace tandem::bench
