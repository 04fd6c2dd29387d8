// SPDX-License-Identifier: Apache-2.0
//
// Ranks as threads on host devices. Gradients are small integers that differ by rank, step and
// element, so that their sum is exact in any order.
#include "common/parallel/horovod/horovod_reducer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <latch>
#include <numeric>
#include <random>

#include "common/comm/shared_memory.h"
#include "common/comm/thread_bootstrap.h"
#include "common/model/mlp.h"
#include "common/runtime/host/host_stream.h"
#include "tests/support/errors.h"
#include "tests/support/host_devices.h"

namespace tandem::test {
namespace {

using Values = std::vector<float>;

// Segments of 35, 7, 77, 11, 33 and 3 elements: none a multiple of 16 bytes.
const Mlp kModel{"six segments", {5, 7, 11, 3}};
constexpr int kSegments = 6;

struct Job {
  int ranks = 2;
  HorovodOptions options{.cycle = std::chrono::microseconds(100)};
  HostDebug debug{};
  int steps = 4;
  std::uint32_t order_seed = 1;
};

std::unique_ptr<Platform> make_devices(const Job& job) {
  PlatformOptions options;
  options.devices = job.ranks;
  options.oversubscribe = true;
  options.debug = job.debug;
  return host::make_host_platform(options);
}

float gradient_of(int rank, int step, int segment, std::size_t element) {
  return static_cast<float>((7 * rank + 3 * step + 5 * segment + static_cast<int>(element)) % 19 -
                            9);
}

class HorovodRank {
 public:
  HorovodRank(Platform& platform, Bootstrap& bootstrap, const HorovodOptions& options)
      : rank(bootstrap.rank()),
        ranks(bootstrap.size()),
        device(platform.device(rank)),
        data(make_shared_memory_communicator(bootstrap, device)),
        control(make_shared_memory_communicator(bootstrap, device)),
        replica(device, kModel, 1, PhaseOptions{}),
        reducer(std::in_place, platform, replica, kModel.layout(), *data, *control, options) {}

  [[nodiscard]] Values values(int of_rank, int step, int segment) const {
    Values result(static_cast<std::size_t>(reducer->gradients()[index(segment)].size()));
    for (std::size_t i = 0; i < result.size(); ++i) {
      result[i] = gradient_of(of_rank, step, segment, i);
    }
    return result;
  }

  // In rank order, then the factor.
  [[nodiscard]] Values average(int step, int segment) const {
    Values total = values(0, step, segment);
    for (int peer = 1; peer < ranks; ++peer) {
      const Values theirs = values(peer, step, segment);
      for (std::size_t i = 0; i < total.size(); ++i) total[i] += theirs[i];
    }
    for (float& value : total) value *= 1.0F / static_cast<float>(ranks);
    return total;
  }

  // A backward that makes gradients in this order, and all that follows until they are averaged.
  void run_step(int step, const std::vector<int>& order) {
    std::vector<Values> sources(kSegments);
    reducer->begin_step();
    for (const int segment : order) {
      sources[index(segment)] = values(rank, step, segment);
      enqueue_copy(replica.stream(), reducer->gradients()[index(segment)],
                   on_host(sources[index(segment)]));
      reducer->gradient_ready(segment);
    }
    reducer->finish();
    replica.timer().end_step(replica.stream());
    replica.stream().synchronize();
  }

  void check_averages(int step) {
    for (int segment = 0; segment < kSegments; ++segment) {
      EXPECT_EQ(read_back<float>(device, reducer->gradients()[index(segment)]),
                average(step, segment))
          << "rank " << rank << ", step " << step << ", segment " << segment;
    }
  }

  [[nodiscard]] static std::size_t index(int segment) { return static_cast<std::size_t>(segment); }

  const int rank;
  const int ranks;
  Device& device;
  const std::unique_ptr<Communicator> data;
  const std::unique_ptr<Communicator> control;
  Replica replica;
  std::optional<HorovodReducer> reducer;
};

void on_ranks(const Job& job, const std::function<void(HorovodRank&)>& body) {
  const auto platform = make_devices(job);
  run_ranks_as_threads(job.ranks, [&](Bootstrap& bootstrap) {
    HorovodRank rank(*platform, bootstrap, job.options);
    body(rank);
  });
}

const std::vector<int> kBackward{5, 4, 3, 2, 1, 0};

// Every rank and step an order of its own.
std::vector<int> shuffled(const Job& job, int rank, int step) {
  std::mt19937 random(job.order_seed + 100U * static_cast<unsigned>(rank) +
                      static_cast<unsigned>(step));
  std::vector<int> order = kBackward;
  std::shuffle(order.begin(), order.end(), random);
  return order;
}

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
  for (const auto& segment : kModel.layout().segments()) sum += segment.bytes();
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

// Half of the division before, half after; powers of two, so that it is exact.
TEST(HorovodReducer, Predivided_IsTheSameAverage) {
  for (const std::int64_t threshold : {0, 1 << 20}) {
    Job job{.ranks = 4};
    job.options.predivide_factor = 2;
    job.options.fusion_threshold = Bytes{threshold};
    check_job(job);
  }
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

TEST(HorovodReducer, AfterTheFirstStep_RankZeroIsAskedNoMore) {
  on_ranks({.ranks = 3}, [&](HorovodRank& rank) {
    for (int step = 0; step < 5; ++step) {
      rank.run_step(step, shuffled({}, rank.rank, step));
      const horovod::StepRecord& record = rank.reducer->latest_step();
      EXPECT_GE(record.cycles, record.cached + record.negotiated);
      EXPECT_EQ(record.negotiated > 0, step == 0);
      EXPECT_EQ(record.cached > 0, step > 0);
    }
  });
}

TEST(HorovodReducer, WithoutACache_RankZeroIsAskedInEveryStep) {
  Job job;
  job.options.cache_capacity = 0;
  on_ranks(job, [&](HorovodRank& rank) {
    for (int step = 0; step < 3; ++step) {
      rank.run_step(step, kBackward);
      EXPECT_GT(rank.reducer->latest_step().negotiated, 0);
      EXPECT_EQ(rank.reducer->latest_step().cached, 0);
    }
  });
}

// As Horovod's step(): the others' gradients count, this rank's are zeros, not last step's.
TEST(HorovodReducer, GradientsNotMade_CountAsZeros) {
  on_ranks({}, [&](HorovodRank& rank) {
    rank.run_step(0, kBackward);
    rank.run_step(1, rank.rank == 0 ? kBackward : std::vector<int>{5, 4, 2, 1, 0});
    Values half = rank.values(0, 1, 3);
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

TEST(HorovodReducer, GradientGivenTwice_IsALogicError) {
  on_ranks({.ranks = 1}, [&](HorovodRank& rank) {
    rank.reducer->begin_step();
    rank.reducer->gradient_ready(3);
    EXPECT_EQ(error_of([&] { rank.reducer->gradient_ready(3); }).kind(), ErrorKind::kLogic);
  });
}

TEST(HorovodReducer, RankThatLeaves_FailsThoseWhoWaitForItsGradients) {
  on_ranks({.ranks = 3}, [&](HorovodRank& rank) {
    rank.run_step(0, kBackward);
    if (rank.rank == 1) return rank.reducer.reset();
    const Error error = error_of([&] { rank.run_step(1, kBackward); });
    EXPECT_EQ(error.kind(), ErrorKind::kCommunication);
    EXPECT_TRUE(mentions(error, "another rank has ended")) << error.what();
  });
}

TEST(HorovodReducer, RankThatLeavesAfterTheLastStep_DisturbsNobody) {
  std::latch left(1);
  on_ranks({}, [&](HorovodRank& rank) {
    rank.run_step(0, kBackward);
    if (rank.rank == 1) {
      rank.reducer.reset();
      left.count_down();
    } else {
      left.wait();
      EXPECT_NO_THROW(rank.reducer->synchronize());
    }
  });
}

TEST(HorovodReducer, RankThatNeverMakesAGradient_IsNoticedAtTheDeadline) {
  Job job;
  job.options.deadline = std::chrono::milliseconds(20);
  std::latch noticed(1);
  on_ranks(job, [&](HorovodRank& rank) {
    rank.reducer->begin_step();
    if (rank.rank == 1) noticed.wait();
    const Error error = error_of([&] { rank.reducer->finish(); });
    EXPECT_EQ(error.kind(), ErrorKind::kCommunication);
    if (rank.rank == 1) return;
    EXPECT_TRUE(mentions(error, "rank 0 waited 20 ms")) << error.what();
    EXPECT_TRUE(mentions(error, kModel.layout().segments().front().name)) << error.what();
    noticed.count_down();
  });
}

TEST(HorovodReducer, AbortedControl_FailsAllRanks) {
  on_ranks({}, [&](HorovodRank& rank) {
    rank.run_step(0, kBackward);
    rank.data->barrier();
    if (rank.rank == 1) rank.control->abort();
    EXPECT_EQ(error_of([&] { rank.run_step(1, kBackward); }).kind(), ErrorKind::kCommunication);
    EXPECT_EQ(error_of([&] { rank.reducer->synchronize(); }).kind(), ErrorKind::kCommunication);
  });
}

TEST(HorovodReducer, WorkThatFails_SurfacesOnItsRank_AndEndsTheOthers) {
  on_ranks({}, [&](HorovodRank& rank) {
    rank.run_step(0, kBackward);
    if (rank.rank == 1) {
      host::host_stream(rank.replica.stream()).enqueue({"backward", {}, [] {
                                                          fail(ErrorKind::kFailure, "planted");
                                                        }});
    }
    const Error error = error_of([&] { rank.run_step(1, kBackward); });
    if (rank.rank == 1) {
      EXPECT_STREQ(error.what(), "planted");
    } else {
      EXPECT_EQ(error.kind(), ErrorKind::kCommunication);
    }
  });
}

// The reducer goes while its gradients wait for a rank that makes none.
TEST(HorovodReducer, DestroyedInTheMiddleOfAStep_Ends) {
  on_ranks({}, [&](HorovodRank& rank) {
    rank.reducer->begin_step();
    if (rank.rank == 0) rank.reducer->gradient_ready(5);
    rank.reducer.reset();
  });
}

}  // namespace
}  // namespace tandem::test
