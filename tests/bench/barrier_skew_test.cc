// SPDX-License-Identifier: Apache-2.0
#include "bench/job/barrier_skew.h"

#include <gtest/gtest.h>

#include "common/comm/shared_memory/shared_memory.h"
#include "common/comm/thread_bootstrap.h"
#include "tests/support/host_devices.h"

namespace tandem::bench {
namespace {

// Two ranks pass a barrier of 1000 ns that rank 1 leaves `late` ns after rank 0; its clock is
// ahead.
std::vector<Passage> round_at(double time, double late, double ahead) {
  return {{time, time + 1000}, {time + ahead, time + 1000 + late + ahead}};
}

TEST(BarrierSkewTest, ClocksThatAgree_LeaveTheSpreadOfExits) {
  std::vector<std::vector<Passage>> rounds{round_at(0, 0, 0)};
  const BarrierSkew skew = skew_of(rounds);
  EXPECT_DOUBLE_EQ(skew.median.count(), 0);
  EXPECT_DOUBLE_EQ(skew.uncertainty.count(), 1e-6);  // the barrier's own duration bounds it
}

TEST(BarrierSkewTest, ClocksFarApart_AreCompared) {
  constexpr double kHour = 3.6e12;
  const BarrierSkew near = skew_of({round_at(0, 200, 0), round_at(5000, 200, 0)});
  const BarrierSkew far = skew_of({round_at(0, 200, kHour), round_at(5000, 200, kHour)});
  EXPECT_NEAR(near.median.count(), 100e-9, 1e-12);  // 200 less what the bounds' middle is off
  EXPECT_NEAR(far.median.count(), near.median.count(), 1e-12);
  EXPECT_NEAR(far.uncertainty.count(), near.uncertainty.count(), 1e-12);
  EXPECT_LE(std::abs(near.median.count() - 200e-9), near.uncertainty.count());
}

TEST(BarrierSkewTest, OneTightRound_BoundsTheClocksForAll) {
  const std::vector<Passage> tight{{0, 10}, {0, 10}};
  const std::vector<Passage> loose{{1000, 2000}, {1000, 2400}};
  const BarrierSkew skew = skew_of({tight, loose, loose});
  EXPECT_NEAR(skew.uncertainty.count(), 10e-9, 1e-15);
  EXPECT_NEAR(skew.median.count(), 400e-9, 1e-15);
}

TEST(BarrierSkewTest, OfThreads_IsTheSameOnAllAndWithinItsBounds) {
  const auto platform = test::host_devices(3);
  run_ranks_as_threads(3, [&](Bootstrap& bootstrap) {
    const auto ranks =
        make_shared_memory_communicator(bootstrap, platform->device(bootstrap.rank()));
    const BarrierSkew skew = measure_barrier_skew(*ranks);
    EXPECT_GE(skew.median.count(), 0);
    EXPECT_GT(skew.uncertainty.count(), 0);
    for (const double theirs : ranks->all_gather(skew.median.count())) {
      EXPECT_EQ(theirs, skew.median.count());
    }
  });
}

}  // namespace
}  // namespace tandem::bench
