// SPDX-License-Identifier: Apache-2.0
//
// What comes out, with ranks as threads on host devices.
#include "ddp/horovod/horovod_reducer.h"

#include <gtest/gtest.h>

#include <numeric>

#include "tests/ddp/horovod/horovod_rank.h"

namespace tandem::test {
namespace {

void check_job(const Job& job) {
  on_ranks(job, [&](HorovodRank& rank) {
    for (int step = 0; step < job.steps; ++step) {
      rank.run_step(step, shuffled(job, rank.rank, step));
      rank.check_averages(step);
    }
    rank.reducer->synchronize();
  });
}

Bytes total() {
  Bytes sum;
  for (const auto& segment : kModel.layout().segments()) sum += segment.size_bytes();
  return sum;
}

Bytes sum_of(const std::vector<Bytes>& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), Bytes{});
}

TEST(HorovodReducer, Gradients_AreAveraged_WhateverTheNumberOfRanks) {
  for (const int ranks : {1, 2, 3, 4}) check_job({.ranks = ranks});
}

TEST(HorovodReducer, Gradients_AreAveraged_WhateverTheThreshold) {
  for (const std::int64_t threshold : {0, 16, 150, 350, 1 << 20}) {
    Job job;
    job.options.fusion_threshold = Bytes{threshold};
    check_job(job);
  }
}

TEST(HorovodReducer, Gradients_AreAveraged_WhateverTheCacheHolds) {
  for (const std::size_t capacity : {0U, 1U, 4U}) {
    Job job{.ranks = 3};
    job.options.cache_capacity = capacity;
    check_job(job);
  }
}

// All streams start their work late, and ranks make gradients in orders of their own.
TEST(HorovodReducer, Gradients_AreAveraged_WhenWorkIsLate) {
  for (const std::uint32_t seed : {1U, 2U, 3U, 4U}) {
    Job job{.ranks = 3, .order_seed = 10 * seed};
    job.options.fusion_threshold = Bytes{300};
    job.debug = {.largest_delay = std::chrono::microseconds(500), .delay_seed = seed};
    check_job(job);
  }
}

TEST(HorovodReducer, Gradients_AreAveraged_WithoutAPauseBetweenCycles) {
  Job job{.ranks = 2};
  job.options.cycle = Nanoseconds{0};
  check_job(job);
}

TEST(HorovodReducer, FusedGroups_StayWithinTheThreshold_AndAreTheSameOnAllRanks) {
  Job job{.ranks = 3};
  job.options.fusion_threshold = Bytes{350};
  std::vector<std::vector<std::vector<Bytes>>> groups(3);  // by rank, by step
  on_ranks(job, [&](HorovodRank& rank) {
    for (int step = 0; step < job.steps; ++step) {
      rank.run_step(step, shuffled(job, rank.rank, step));
      groups[HorovodRank::index(rank.rank)].push_back(rank.reducer->bucket_sizes());
    }
  });
  for (const auto& sizes : groups[0]) {
    EXPECT_EQ(sum_of(sizes), total());
    for (const Bytes size : sizes) EXPECT_LE(size, Bytes{350});
  }
  EXPECT_EQ(groups[1], groups[0]);
  EXPECT_EQ(groups[2], groups[0]);
}

TEST(HorovodReducer, ThresholdZero_ReducesEachGradientAlone) {
  Job job;
  job.options.fusion_threshold = Bytes{0};
  on_ranks(job, [&](HorovodRank& rank) {
    rank.run_step(0, kBackward);
    EXPECT_EQ(rank.reducer->bucket_sizes().size(), static_cast<std::size_t>(kSegments));
  });
}

// As Horovod's step(): the others' gradients count, this rank's are zeros, not last step's.
TEST(HorovodReducer, GradientsNotMade_CountAsZeros) {
  on_ranks({}, [&](HorovodRank& rank) {
    rank.run_step(0, kBackward);
    rank.run_step(1, rank.rank == 0 ? kBackward : std::vector<int>{5, 4, 2, 1, 0});
    HorovodRank::Values half = rank.values(0, 1, 3);
    for (float& value : half) value /= 2;
    EXPECT_EQ(read_back<float>(rank.device, rank.reducer->gradients()[3]), half);
  });
}

TEST(HorovodReducer, Gradients_LieInOneArena_AndBesideThemTheFusionBuffer) {
  on_ranks({}, [&](HorovodRank& rank) {
    const auto flat = rank.reducer->flat_gradients();
    ASSERT_TRUE(flat);
    EXPECT_EQ(flat->size(), kModel.layout().arena_count());
    EXPECT_EQ(flat->data(), rank.reducer->gradients().front().data());
  });
  const auto memory_with = [](Bytes threshold) {
    Job job{.ranks = 1};
    job.options.fusion_threshold = threshold;
    Bytes used;
    on_ranks(job, [&](HorovodRank& rank) { used = rank.device.memory().used; });
    return used;
  };
  const Bytes without = memory_with(Bytes{0});
  EXPECT_EQ(memory_with(Bytes{256}) - without, Bytes{256});
  EXPECT_EQ(memory_with(mib(128)) - without, Bytes{768});  // 144+32+320+48+144+16, whole lines
}

TEST(HorovodReducer, WaitForTheLaunches_IsInThePhaseOfExposedCommunication) {
  on_ranks({}, [&](HorovodRank& rank) {
    rank.run_step(0, kBackward);
    EXPECT_GT(rank.replica.timer().collect().of(Phase::kExposedComm).count(), 0);
  });
}

}  // namespace
}  // namespace tandem::test
