// SPDX-License-Identifier: Apache-2.0
//
// A rank whose gradients Horovod's reducer averages. They are small integers that differ by rank,
// step and element, so that their sum is exact in any order.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <random>

#include "common/comm/shared_memory/shared_memory.h"
#include "common/comm/thread_bootstrap.h"
#include "common/model/linear_stack.h"
#include "ddp/horovod/horovod_reducer.h"
#include "tests/support/host_devices.h"

namespace tandem::test {

// Segments of 35, 7, 77, 11, 33 and 3 elements: none a multiple of 16 bytes.
inline const Mlp kModel{"six segments", {5, 7, 11, 3}};
constexpr int kSegments = 6;

struct Job {
  int ranks = 2;
  ddp::HorovodOptions options{.cycle = std::chrono::microseconds(100)};
  HostDebug debug{};
  int steps = 4;
  std::uint32_t order_seed = 1;
};

inline std::unique_ptr<Platform> make_devices(const Job& job) {
  PlatformOptions options;
  options.devices = job.ranks;
  options.oversubscribe = true;
  options.debug = job.debug;
  return host::make_host_platform(options);
}

inline float gradient_of(int rank, int step, int segment, std::size_t element) {
  return static_cast<float>((7 * rank + 3 * step + 5 * segment + static_cast<int>(element)) % 19 -
                            9);
}

class HorovodRank {
 public:
  using Values = std::vector<float>;

  HorovodRank(Platform& platform, Bootstrap& bootstrap, const ddp::HorovodOptions& options)
      : rank(bootstrap.rank()),
        ranks(bootstrap.size()),
        device(platform.device(rank)),
        data(make_shared_memory_communicator(bootstrap, device)),
        control(make_shared_memory_communicator(bootstrap, device)),
        replica(device, kModel, 1, TrainingOptions{}),
        reducer(std::in_place, replica, kModel.layout(), *data, *control, options) {}

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
    reducer->begin_step();
    for (const int segment : order) {
      sources_[index(segment)] = values(rank, step, segment);
      enqueue_copy(replica.stream(), reducer->gradients()[index(segment)],
                   on_host(sources_[index(segment)]));
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

 private:
  std::vector<Values> sources_ = std::vector<Values>(kSegments);  // of a step's gradients

 public:
  Replica replica;  // ends its work before what it copies from goes
  std::optional<ddp::horovod::HorovodReducer> reducer;
};

inline void on_ranks(const Job& job, const std::function<void(HorovodRank&)>& body) {
  const auto platform = make_devices(job);
  run_ranks_as_threads(job.ranks, [&](Bootstrap& bootstrap) {
    HorovodRank rank(*platform, bootstrap, job.options);
    body(rank);
  });
}

inline const std::vector<int> kBackward{5, 4, 3, 2, 1, 0};

// Every rank and step an order of its own.
inline std::vector<int> shuffled(const Job& job, int rank, int step) {
  std::mt19937 random(job.order_seed + 100U * static_cast<unsigned>(rank) +
                      static_cast<unsigned>(step));
  std::vector<int> order = kBackward;
  std::shuffle(order.begin(), order.end(), random);
  return order;
}

}  // namespace tandem::test
