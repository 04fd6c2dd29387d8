// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "simulate/cost/collective_time.h"

namespace tandem::test {
namespace {

using std::chrono::microseconds;

// 1 GB/s: a byte takes a nanosecond.
constexpr LinkModel kLink{.latency = microseconds(10), .bytes_per_second = 1e9};
constexpr Bytes kSize{1'200'000};

TEST(LinkModelTest, Transfer_IsLatencyPlusBytesOverBandwidth) {
  EXPECT_EQ(transfer_time(kLink, kSize), microseconds(10 + 1200));
  EXPECT_EQ(transfer_time(kLink, Bytes{0}), microseconds(10));
}

TEST(LinkModelTest, RingAllReduce_Takes2NMinus1StepsOfAnNth) {
  EXPECT_EQ(2 * ring_pass_time(kLink, kSize, 2), 2 * microseconds(10 + 600));
  EXPECT_EQ(2 * ring_pass_time(kLink, kSize, 4), 6 * microseconds(10 + 300));
}

TEST(LinkModelTest, Pipelined_PaysLatencyPerHopAndBytesOnce) {
  EXPECT_EQ(pipelined_time(kLink, kSize, 4), microseconds(3 * 10 + 1200));
}

TEST(LinkModelTest, WorldOfOne_TransfersNothing) {
  for (const auto time : {ring_pass_time, pipelined_time}) {
    EXPECT_EQ(time(kLink, kSize, 1), Nanoseconds{0});
  }
}

}  // namespace
}  // namespace tandem::test
