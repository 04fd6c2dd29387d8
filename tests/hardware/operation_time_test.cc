// SPDX-License-Identifier: Apache-2.0
#include "common/hardware/operation_time.h"

#include <gtest/gtest.h>

#include "tests/support/round_machine.h"

namespace tandem::test {
namespace {

class OperationTime : public testing::Test {
 protected:
  [[nodiscard]] Nanoseconds time(double flops, std::int64_t moved) const {
    return operation_time(gpu_, gpu_.fp32.value, {flops, Bytes{moved}});
  }

  GpuDescription gpu_ = round_machine().gpu;
};

TEST_F(OperationTime, IsThatOfTheProducts_OrOfTheBytes_WhicheverTakesLonger) {
  EXPECT_EQ(time(1e6, 1000), Nanoseconds{1000});
  EXPECT_EQ(time(1e3, 1'000'000), Nanoseconds{10'000});
}

TEST_F(OperationTime, GrowsAsLessOfThePeaksIsReached) {
  gpu_.product_share.value = 0.5;
  gpu_.memory_share.value = 0.8;
  EXPECT_EQ(time(1e6, 1000), Nanoseconds{2000});
  EXPECT_EQ(time(1e3, 1'000'000), Nanoseconds{12'500});
}

TEST_F(OperationTime, IsNeverBelowTheLeast) {
  gpu_.least_time.value = Nanoseconds{2500};
  EXPECT_EQ(time(1, 1), Nanoseconds{2500});
  EXPECT_EQ(memory_time(gpu_, Bytes{0}), Nanoseconds{2500});
}

}  // namespace
}  // namespace tandem::test
