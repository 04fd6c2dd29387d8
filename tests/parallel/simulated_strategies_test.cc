// SPDX-License-Identifier: Apache-2.0
//
// Strategies' own code in virtual time: what follows from their algorithms, to the nanosecond.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <vector>

#include "common/model/zoo.h"
#include "common/parallel/independent.h"
#include "common/parallel/single.h"
#include "ddp/distributed_data_parallel.h"
#include "ddp/dp_all_reduce.h"
#include "dp/data_parallel.h"
#include "simulate/engine/simulated_communicator.h"
#include "simulate/engine/simulation.h"
#include "tests/support/errors.h"
#include "tests/support/simulated_devices.h"

namespace tandem::test {
namespace {

constexpr std::int64_t kShare = 32;  // samples of a device
constexpr int kSettled = 3;          // steps, after which ddp's buckets are rebuilt

Nanoseconds time_of_step(Platform& platform, const std::function<void()>& step) {
  for (int i = 0; i < kSettled; ++i) step();
  const TimePoint start = platform.now();
  step();
  return platform.now() - start;
}

Nanoseconds time_of_step(Platform& platform, Strategy& strategy) {
  return time_of_step(platform, [&strategy] {
    strategy.step();
    strategy.synchronize();
  });
}

class SimulatedStrategies : public testing::Test {
 protected:
  void SetUp() override { machine_.gpu.memory.value = gib(1); }

  [[nodiscard]] static TrainingOptions training(int devices) {
    return {.global_batch = kShare * devices};
  }

  [[nodiscard]] Nanoseconds single(std::int64_t batch = kShare) const {
    const auto platform = simulated_devices(1, machine_);
    Single strategy(*platform, platform->device(0), *model_, Shard{0, batch},
                    {.global_batch = batch});
    return time_of_step(*platform, strategy);
  }

  [[nodiscard]] Nanoseconds independent(int devices) const {
    const auto platform = simulated_devices(devices, machine_);
    IndependentThreads strategy(*platform, *model_, training(devices));
    return time_of_step(*platform, strategy);
  }

  [[nodiscard]] Nanoseconds dp(int devices, const dp::DataParallelOptions& how = {}) const {
    const auto platform = simulated_devices(devices, machine_);
    dp::DataParallel strategy(*platform, *model_, training(devices), how);
    return time_of_step(*platform, strategy);
  }

  // One rank that stands for all.
  [[nodiscard]] Nanoseconds ddp(int ranks, const ddp::ReducerOptions& how = {}) const {
    const auto platform = simulated_devices(1, machine_);
    Device& device = platform->device(0);
    const auto all = simulated::make_folded_communicator(ranks, device, {});
    ddp::DistributedDataParallel strategy(*platform, device, *model_, {*all}, training(ranks), how);
    return time_of_step(*platform, strategy);
  }

  // All ranks, on a host thread each.
  [[nodiscard]] Nanoseconds ddp_unfolded(int ranks) const {
    const auto platform = simulated_devices(ranks, machine_);
    const std::vector<Device*> devices = devices_of(*platform);
    const auto communicators = simulated::make_team_communicators(devices);
    std::vector<std::unique_ptr<Strategy>> all;
    const auto threads = platform->make_threads(devices, ThreadLife::kKept);
    threads->run([&](int i) {
      const auto rank = static_cast<std::size_t>(i);
      all.push_back(std::make_unique<ddp::DistributedDataParallel>(
          *platform, *devices[rank], *model_, *communicators[rank], training(ranks),
          ddp::ReducerOptions{}));
    });
    return time_of_step(*platform, [&] {
      threads->run([&](int i) {
        all[static_cast<std::size_t>(i)]->step();
        all[static_cast<std::size_t>(i)]->synchronize();
      });
    });
  }

  [[nodiscard]] Nanoseconds dp_all_reduce(int devices,
                                          ddp::Shards shards = ddp::Shards::kOwn) const {
    const auto platform = simulated_devices(devices, machine_);
    ddp::DpAllReduce strategy(*platform, *model_, training(devices), {.shards = shards});
    return time_of_step(*platform, strategy);
  }

  HardwareDescription machine_ = round_machine();
  const std::unique_ptr<Model> model_ = make_model("mlp-small");
};

TEST_F(SimulatedStrategies, RanksOfDdp_KeepPaceWithTheSlowest) {
  const Nanoseconds even = ddp(8);
  const Nanoseconds even_of_four = ddp(4);
  const Nanoseconds of_one = ddp(1);
  const Nanoseconds of_threads = dp(2);
  machine_.gpu.scatter = SourcedFigure<double>{0.1, "round"};
  EXPECT_GT(ddp(8), even);
  EXPECT_GT(ddp(8) - even, ddp(4) - even_of_four);
  EXPECT_EQ(ddp(1), of_one);
  EXPECT_EQ(dp(2), of_threads);
  EXPECT_EQ(independent(8), single());
  simulated::Simulation simulation(machine_, 1);
  simulation.keep_pace_with(2);
  EXPECT_EQ(simulation.on_slowest(Nanoseconds{1000}), Nanoseconds{1059});
}

TEST_F(SimulatedStrategies, IndependentDevices_TakeAsLongAsOne) {
  EXPECT_GT(single(), Nanoseconds{0});
  EXPECT_EQ(independent(1), single());
  EXPECT_EQ(independent(8), single());
}

TEST_F(SimulatedStrategies, TheSameStep_TakesTheSameTime) {
  machine_.host.launch.value = Nanoseconds{4000};
  machine_.gpu.contention.value = 0.05;
  EXPECT_EQ(dp(4), dp(4));
  EXPECT_EQ(ddp(4), ddp(4));
}

TEST_F(SimulatedStrategies, FoldedRanks_TakeAsLongAsAllOfThem) {
  machine_.host.launch.value = Nanoseconds{4000};
  machine_.gpu.contention.value = 0.05;
  for (const int ranks : {2, 4, 8}) EXPECT_EQ(ddp_unfolded(ranks), ddp(ranks)) << ranks;
}

TEST_F(SimulatedStrategies, ThreadsWithoutACost_TakeAsLongAsProcesses) {
  machine_.gpu.contention.value = 0.05;
  for (const int devices : {1, 2, 8}) EXPECT_EQ(dp_all_reduce(devices), ddp(devices)) << devices;
  machine_.host.wake.value = Nanoseconds{5000};
  EXPECT_EQ(dp_all_reduce(8), ddp(8) + Nanoseconds{5000});  // the caller's is behind the devices'
  machine_.host.launch.value = Nanoseconds{4000};
  EXPECT_GT(dp_all_reduce(8, ddp::Shards::kScattered), dp_all_reduce(8));
}

TEST_F(SimulatedStrategies, DdpOnAnEndlessLink_IsAStepOfOneDevice) {
  machine_.node.peer_link->bandwidth.value = 1e30;
  const Nanoseconds more = single() - ddp(8, {.grads = ddp::GradsMode::kViews});
  EXPECT_GE(more, Nanoseconds{0});
  EXPECT_LE(more, Nanoseconds{5});  // buckets lack some of the gaps between parameters
}

// All weights go out, and all gradients come back, through the root's port.
TEST_F(SimulatedStrategies, DpsTransfersOneAfterAnother_GrowWithTheDevices) {
  const dp::DataParallelOptions torch_without_nccl{.broadcast = dp::Order::kSequential,
                                                   .reduce = dp::Order::kSequential};
  const Nanoseconds one_more = dp(5, torch_without_nccl) - dp(4, torch_without_nccl);
  const std::int64_t weights = model_->layout().parameter_count() * 4;
  EXPECT_GE(one_more, Nanoseconds{2 * weights / 10});
}

TEST_F(SimulatedStrategies, AFasterLink_IsNeverSlower) {
  Nanoseconds last_ddp = ddp(8);
  Nanoseconds last_dp = dp(4);
  for (int round = 0; round < 4; ++round) {
    machine_.node.peer_link->bandwidth.value *= 2;
    EXPECT_LE(ddp(8), last_ddp);
    EXPECT_LE(dp(4), last_dp);
    last_ddp = ddp(8);
    last_dp = dp(4);
  }
}

TEST_F(SimulatedStrategies, Overlap_HidesTransfersBehindBackward) {
  EXPECT_LT(ddp(8), ddp(8, {.overlap = ddp::Overlap::kOff}));
}

TEST_F(SimulatedStrategies, ALaterLaunch_HoldsTheStepUp) {
  const Nanoseconds without = single();
  machine_.host.launch.value = std::chrono::milliseconds(1);
  EXPECT_GT(single(), without + std::chrono::milliseconds(10));  // of a dozen operations
}

// What a simulation costs is known by counts: tasks of a step, and looks at each task.
TEST_F(SimulatedStrategies, CostGrowsWithDevicesAndSteps_AndNoFaster) {
  machine_.node.gpus.value = 16;
  machine_.host.launch.value = Nanoseconds{4000};
  struct Cost {
    double tasks = 0;
    double turns = 0;
  };
  const auto cost_of = [this](int devices, int steps) {
    const auto platform = simulated_devices(devices, machine_);
    dp::DataParallel strategy(*platform, *model_, training(devices), {});
    for (int step = 0; step < steps; ++step) strategy.step();
    strategy.synchronize();
    static_cast<void>(platform->now());
    const simulated::Schedule& schedule = simulated::simulation_of(platform->device(0)).schedule();
    return Cost{static_cast<double>(schedule.size()), static_cast<double>(schedule.turns())};
  };
  const Cost few = cost_of(4, 4);
  const Cost more_steps = cost_of(4, 32);
  EXPECT_LT(more_steps.tasks, 8 * few.tasks);
  EXPECT_LT(more_steps.turns / more_steps.tasks, 1.05 * few.turns / few.tasks);
  const Cost more_devices = cost_of(16, 4);
  EXPECT_LT(more_devices.tasks, 4.2 * few.tasks);
  EXPECT_LT(more_devices.turns / more_devices.tasks, 1.1 * few.turns / few.tasks);
}

TEST_F(SimulatedStrategies, ModelsThatDoNotFit_AreOutOfMemory) {
  machine_.gpu.memory.value = mib(8);
  const Error error = error_of([this] { static_cast<void>(single()); });
  EXPECT_EQ(error.kind(), ErrorKind::kOutOfMemory);
  EXPECT_TRUE(mentions(error, "simulated:0 is out of memory")) << error.what();
}

}  // namespace
}  // namespace tandem::test
