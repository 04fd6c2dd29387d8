// SPDX-License-Identifier: Apache-2.0
//
// What must hold on whatever machine a description describes, on random ones: relations between
// steps, as no step's time is known beforehand.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/model/zoo.h"
#include "common/parallel/independent.h"
#include "common/parallel/single.h"
#include "ddp/distributed_data_parallel.h"
#include "ddp/dp_all_reduce.h"
#include "dp/data_parallel.h"
#include "simulate/cost/operation_costs.h"
#include "simulate/engine/simulated_communicator.h"
#include "tests/support/random_machine.h"
#include "tests/support/simulated_devices.h"

namespace tandem::test {
namespace {

constexpr int kMachines = 1000;
constexpr std::int64_t kEach = 8;  // samples of a device
constexpr int kWarmup = 2;         // steps, after which ddp's buckets are rebuilt

Nanoseconds settled_step(Platform& platform, Strategy& strategy) {
  for (int i = 0; i < kWarmup; ++i) strategy.step();
  strategy.synchronize();
  const TimePoint start = platform.now();
  strategy.step();
  strategy.synchronize();
  return platform.now() - start;
}

// Without the timers' own records, so that steps have the same calls.
TrainingOptions untimed(int devices) {
  TrainingOptions training{.global_batch = kEach * devices};
  training.phases.timing = PhaseTiming::kOff;
  return training;
}

class SimulatedMachines : public testing::Test {
 protected:
  [[nodiscard]] Nanoseconds single(const HardwareDescription& machine) const {
    const auto platform = simulated_devices(1, machine);
    Single strategy(*platform, platform->device(0), *model_, Shard{0, kEach}, untimed(1));
    return settled_step(*platform, strategy);
  }

  [[nodiscard]] Nanoseconds independent(const HardwareDescription& machine, int devices) const {
    const auto platform = simulated_devices(devices, machine);
    IndependentThreads strategy(*platform, *model_, untimed(devices));
    return settled_step(*platform, strategy);
  }

  [[nodiscard]] Nanoseconds dp(const HardwareDescription& machine, int devices,
                               dp::DataParallelOptions how = {}) const {
    const auto platform = simulated_devices(devices, machine);
    dp::DataParallel strategy(*platform, *model_, untimed(devices), how);
    return settled_step(*platform, strategy);
  }

  [[nodiscard]] Nanoseconds ddp(const HardwareDescription& machine, int ranks,
                                const ddp::ReducerOptions& how = {}) const {
    const auto platform = simulated_devices(1, machine);
    Device& device = platform->device(0);
    const auto all = simulated::make_folded_communicator(ranks, device, {});
    ddp::DistributedDataParallel strategy(*platform, device, *model_, {*all}, untimed(ranks), how);
    return settled_step(*platform, strategy);
  }

  [[nodiscard]] Nanoseconds dp_all_reduce(const HardwareDescription& machine, int devices) const {
    const auto platform = simulated_devices(devices, machine);
    ddp::DpAllReduce strategy(*platform, *model_, untimed(devices));
    return settled_step(*platform, strategy);
  }

  // The steps of each strategy on a machine.
  [[nodiscard]] std::vector<Nanoseconds> steps(const HardwareDescription& machine) const {
    return {single(machine),
            dp(machine, 3),
            dp(machine, 3, {.broadcast = dp::Order::kSequential, .reduce = dp::Order::kSequential}),
            dp_all_reduce(machine, 3),
            ddp(machine, 4),
            ddp(machine, 4, {.grads = ddp::GradsMode::kViews, .overlap = ddp::Overlap::kOff})};
  }

  const std::unique_ptr<Model> model_ = make_model("mlp-tiny");
};

struct Improvement {
  std::string name;
  std::function<void(HardwareDescription&, double)> make;
};

void shorten(SourcedFigure<Nanoseconds>& cost, double times) {
  cost.value = Nanoseconds{std::llround(static_cast<double>(cost.value.count()) / times)};
}

void speed_up(LinkDescription& link, double times) {
  link.bandwidth.value *= times;
  shorten(link.latency, times);
}

std::vector<Improvement> improvements() {
  return {
      {"a faster peer link",
       [](HardwareDescription& machine, double times) {
         if (machine.node.peer_link) speed_up(*machine.node.peer_link, times);
       }},
      {"a faster link to the host",
       [](HardwareDescription& machine, double times) { speed_up(machine.node.host_link, times); }},
      {"a faster way through the host",
       [](HardwareDescription& machine, double times) {
         if (!machine.node.staged_link) return;
         speed_up(machine.node.staged_link->one_way, times);
         machine.node.staged_link->both_ways.value *= times;
       }},
      {"a faster GPU",
       [](HardwareDescription& machine, double times) {
         machine.gpu.fp32.value *= times;
         machine.gpu.memory_bandwidth.value *= times;
         shorten(machine.gpu.least_time, times);
       }},
      {"a faster host",
       [](HardwareDescription& machine, double times) {
         shorten(machine.host.launch, times);
         shorten(machine.host.wake, times);
         shorten(machine.host.thread_start, times);
       }},
      {"less contention",
       [](HardwareDescription& machine, double times) { machine.gpu.contention.value /= times; }}};
}

// Ends are rounded to a nanosecond.
Nanoseconds rounding(Nanoseconds step) { return Nanoseconds{50} + step / 1'000'000; }

TEST_F(SimulatedMachines, WhateverIsFaster_NeverMakesAStepSlower) {
  RandomMachines machines(1);
  const std::vector<Improvement> all = improvements();
  for (int i = 0; i < kMachines; ++i) {
    const HardwareDescription machine = machines.next();
    const Improvement& improvement = all[static_cast<std::size_t>(i) % all.size()];
    HardwareDescription better = machine;
    improvement.make(better, machines.between(1.05, 20));
    const auto before = steps(machine);
    const auto after = steps(better);
    for (std::size_t step = 0; step < before.size(); ++step) {
      EXPECT_LE(after[step], before[step] + rounding(before[step]))
          << improvement.name << ", machine " << i << ", step " << step;
    }
  }
}

TEST_F(SimulatedMachines, OneDevice_MakesOfEveryBoundASingleStep) {
  RandomMachines machines(2);
  for (int i = 0; i < kMachines; ++i) {
    const HardwareDescription machine = machines.next();
    const Nanoseconds alone = single(machine);
    EXPECT_GE(dp(machine, 1), alone) << i;
    // The thread wakes up first, and its caller while the device may still be at work.
    const Nanoseconds woken = independent(machine, 1) - alone;
    EXPECT_GE(woken, machine.host.wake.value) << i;
    EXPECT_LE(woken, 2 * machine.host.wake.value) << i;
  }
}

// Backward copies each gradient into its bucket and divides it, and the averages are copied back.
TEST_F(SimulatedMachines, DdpOnAnEndlessLink_TakesAsLongAsOneDeviceAndItsCopies) {
  RandomMachines machines(3);
  for (int i = 0; i < kMachines; ++i) {
    HardwareDescription machine = machines.next();
    machine.node.peer_link = LinkDescription{{1e30, "endless"}, {Nanoseconds{0}, "endless"}};
    machine.gpu.contention.value = 0;
    machine.host.launch.value = Nanoseconds{0};
    Nanoseconds copies{0};
    for (const auto& segment : model_->layout().segments()) {
      copies += 2 * memory_time(machine.gpu, bytes_of<float>(2 * segment.shape.count()));
    }
    const Nanoseconds alone = single(machine);
    EXPECT_EQ(ddp(machine, 4), alone + copies) << i;
    // Views lack some of the gaps between parameters, over which the flat update runs.
    const Nanoseconds less = alone - ddp(machine, 4, {.grads = ddp::GradsMode::kViews});
    EXPECT_GE(less, Nanoseconds{0}) << i;
    EXPECT_LE(less, rounding(alone)) << i;
  }
}

}  // namespace
}  // namespace tandem::test
