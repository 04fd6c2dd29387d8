// SPDX-License-Identifier: Apache-2.0
#include "dp/data_parallel.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "common/model/zoo.h"
#include "tests/support/errors.h"
#include "tests/support/failing_model.h"
#include "tests/support/host_devices.h"
#include "tests/support/training.h"

namespace tandem::test {
namespace {

TEST(DataParallelTest, OneDevice_IsSingleBitForBit) {
  const auto model = make_model("mlp-tiny");
  for (const InputPlace input : {InputPlace::kHost, InputPlace::kDevice}) {
    Training run{.strategy = "single", .steps = 4};
    run.training.global_batch = 9;
    run.training.input = input;
    const Outcome single = train(*model, run);
    run.strategy = "dp";
    EXPECT_EQ(train(*model, run), single);
  }
}

// Phases of a step in which each device spent time.
std::vector<std::string_view> phases_of(const PhaseTimes& times) {
  std::vector<std::string_view> phases;
  for (std::size_t i = 0; i < kPhaseCount; ++i) {
    if (times.total[i].count() > 0) phases.push_back(kPhaseNames[i]);
  }
  return phases;
}

TEST(DataParallelTest, OneDevice_NeitherReplicatesNorGathers) {
  const auto platform = host_devices(1);
  const auto model = exact_model();
  dp::DataParallel strategy(*platform, *model, exact_training(8));
  strategy.step();
  strategy.synchronize();
  const auto phases = phases_of(strategy.collect_phases().front().times);
  for (const char* absent : {"launch", "replicate", "gather", "scatter_grad", "reduce"}) {
    EXPECT_EQ(std::count(phases.begin(), phases.end(), absent), 0) << absent;
  }
}

TEST(DataParallelTest, Root_GoesThroughAllPhases_OthersUpdateNothing) {
  const auto platform = host_devices(2);
  const auto model = exact_model();
  dp::DataParallel strategy(*platform, *model, exact_training(8));
  strategy.step();
  strategy.synchronize();
  const std::vector<DeviceTimes> times = strategy.collect_phases();
  ASSERT_EQ(times.size(), 2U);
  const auto root = phases_of(times[0].times);
  for (const char* present : {"check", "scatter", "replicate", "forward", "gather", "loss",
                              "scatter_grad", "backward", "reduce", "update"}) {
    EXPECT_EQ(std::count(root.begin(), root.end(), present), 1) << present;
  }
  // Threads are started, and awake, at a cost on every device: never charged to a copy.
  for (const DeviceTimes& device : times) {
    EXPECT_GT(device.times.of(Phase::kLaunch), Nanoseconds{0}) << device.device;
    EXPECT_GT(device.times.of(Phase::kIdle), Nanoseconds{0}) << device.device;
  }
  EXPECT_EQ(times[1].times.of(Phase::kUpdate), Nanoseconds{0});
  EXPECT_EQ(times[1].times.of(Phase::kLoss), Nanoseconds{0});
}

TEST(DataParallelTest, FewerPiecesThanDevices_LeaveTheLastDevicesOut) {
  const auto platform = host_devices(4);
  const auto model = exact_model();
  dp::DataParallel strategy(*platform, *model, exact_training(9));  // 3, 3, 3
  strategy.step();
  strategy.synchronize();
  EXPECT_EQ(strategy.collect_phases().size(), 3U);
  EXPECT_EQ(platform->device(3).memory().peak, Bytes{0});
}

class DataParallelFaultTest : public testing::TestWithParam<int> {};

TEST_P(DataParallelFaultTest, FailingWork_SurfacesAtSynchronize_AndNothingHangs) {
  const auto platform = host_devices(3);
  const FailingModel model(GetParam(), 2, FailingModel::Where::kQueuedWork);
  dp::DataParallel strategy(*platform, model, exact_training(12));
  for (int step = 0; step < 4; ++step) strategy.step();  // enqueues on, as nobody waits
  const Error error = error_of([&] { strategy.synchronize(); });
  EXPECT_EQ(error.kind(), ErrorKind::kFailure);
  EXPECT_EQ(error.what(), FailingModel::message(GetParam()));
}

TEST_P(DataParallelFaultTest, FailingCall_IsThrownByTheStep_AndNothingHangs) {
  const auto platform = host_devices(3);
  const FailingModel model(GetParam(), 2, FailingModel::Where::kCall);
  dp::DataParallel strategy(*platform, model, exact_training(12));
  strategy.step();
  EXPECT_EQ(error_of([&] { strategy.step(); }).what(), FailingModel::message(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Devices, DataParallelFaultTest, testing::Values(0, 1, 2));

TEST(DataParallelTest, DestroyedWithoutSynchronize_EndsItsWorkFirst) {
  const auto platform = host_devices(2);
  const auto model = make_model("mlp-tiny");
  TrainingOptions options;
  options.global_batch = 8;
  dp::DataParallel strategy(*platform, *model, options);
  for (int step = 0; step < 3; ++step) strategy.step();
}

TEST(DataParallelTest, TooLittleMemory_IsOutOfMemory) {
  PlatformOptions options;
  options.devices = 2;
  options.oversubscribe = true;
  options.device_memory = {kib(64)};
  const auto platform = host::make_host_platform(options);
  const auto model = make_model("mlp-tiny");
  const Error error =
      error_of([&] { dp::DataParallel strategy(*platform, *model, exact_training(8)); });
  EXPECT_EQ(error.kind(), ErrorKind::kOutOfMemory);
}

}  // namespace
}  // namespace tandem::test
