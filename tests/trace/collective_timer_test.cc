// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "common/trace/phase_timer.h"
#include "tests/support/host_devices.h"

namespace tandem::test {
namespace {

using std::chrono::milliseconds;

class CollectiveTimerTest : public testing::Test {
 protected:
  void collective(CollectiveTimer& timer, std::size_t index, Nanoseconds duration) {
    timer.begin(*stream_, index, kib(static_cast<std::int64_t>(index) + 1));
    stream_->delay(duration);
    timer.end(*stream_, index, kib(static_cast<std::int64_t>(index) + 1));
  }

  const std::unique_ptr<Platform> platform_ = host_devices(1);
  Device& device_ = platform_->device(0);
  const std::unique_ptr<Stream> stream_ = device_.make_stream(StreamPriority::kNormal);
};

TEST_F(CollectiveTimerTest, Times_AreSummedByIndex_AndForgotten) {
  CollectiveTimer timer(device_, {});
  for (int round = 0; round < 2; ++round) {
    for (int step = 0; step < 3; ++step) {
      collective(timer, 0, milliseconds(1));
      collective(timer, 1, milliseconds(4));
    }
    stream_->synchronize();
    const std::vector<CollectiveTimes> times = timer.collect();
    ASSERT_EQ(times.size(), 2U);
    EXPECT_EQ(times[0].steps, 3);
    EXPECT_EQ(times[1].size, kib(2));
    EXPECT_GE(times[0].total, milliseconds(3));
    EXPECT_GE(times[1].total, milliseconds(12));
  }
  EXPECT_TRUE(timer.collect().empty());
}

TEST_F(CollectiveTimerTest, Off_KeepsNothing) {
  CollectiveTimer timer(device_, {.timing = PhaseTiming::kOff});
  collective(timer, 0, Nanoseconds{0});
  stream_->synchronize();
  EXPECT_TRUE(timer.collect().empty());
}

}  // namespace
}  // namespace tandem::test
