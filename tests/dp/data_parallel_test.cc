// SPDX-License-Identifier: Apache-2.0
#include "dp/data_parallel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

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
  EXPECT_EQ(error_of([&] { strategy.step(); }).what(),
            fmt::format("caught in replica {0} on host:{0}: {1}", GetParam(),
                        FailingModel::message(GetParam())));
  // All of it has ended: the next steps are whole, and counted as such.
  static_cast<void>(strategy.collect_phases());
  for (int step = 0; step < 2; ++step) strategy.step();
  strategy.synchronize();
  EXPECT_EQ(strategy.collect_phases().front().times.steps, 2);
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

dp::DataParallelOptions on_devices(const std::vector<int>& ids) { return {.device_ids = ids}; }

std::vector<int> devices_in(const std::vector<DeviceTimes>& times) {
  std::vector<int> devices;
  for (const DeviceTimes& device : times) devices.push_back(device.device);
  return devices;
}

TEST(DataParallelTest, Root_IsTheFirstOfDeviceIds) {
  const auto platform = host_devices(3);
  const auto model = exact_model();
  dp::DataParallel strategy(*platform, *model, exact_training(9), on_devices({2, 0, 1}));
  strategy.step();
  strategy.synchronize();
  EXPECT_EQ(strategy.weights().front().device(), platform->device(2).id());
  const std::vector<DeviceTimes> times = strategy.collect_phases();
  EXPECT_EQ(devices_in(times), (std::vector<int>{2, 0, 1}));
  EXPECT_GT(times[0].times.of(Phase::kUpdate).count(), 0);
}

TEST(DataParallelTest, OutputDevice_GathersAndComputesTheLoss_AlsoWithoutAReplica) {
  const auto platform = host_devices(3);
  const auto model = exact_model();
  for (const int output : {1, 2}) {
    dp::DataParallelOptions how = on_devices({0, 1});
    how.output_device = output;
    dp::DataParallel strategy(*platform, *model, exact_training(8), how);
    strategy.step();
    strategy.synchronize();
    for (const DeviceTimes& device : strategy.collect_phases()) {
      EXPECT_EQ(device.times.of(Phase::kLoss).count() > 0, device.device == output);
      EXPECT_EQ(device.times.of(Phase::kGather).count() > 0, device.device == output);
      EXPECT_EQ(device.times.of(Phase::kUpdate).count() > 0, device.device == 0);
    }
  }
}

TEST(DataParallelTest, OutputDevice_IsChecked_AlsoWhereTheShortcutLeavesItOut) {
  const auto platform = host_devices(2);
  const auto model = exact_model();
  dp::DataParallelOptions how = on_devices({1});
  how.output_device = 7;
  const Error error =
      error_of([&] { dp::DataParallel strategy(*platform, *model, exact_training(8), how); });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
}

TEST(DataParallelTest, ModuleElsewhereThanOnTheRoot_IsAnErrorThatNamesBothDevices) {
  const auto platform = host_devices(3);
  const auto model = exact_model();
  dp::DataParallelOptions how = on_devices({0, 1});
  how.model_device = 1;
  dp::DataParallel strategy(*platform, *model, exact_training(8), how);
  const Error error = error_of([&] { strategy.step(); });
  EXPECT_TRUE(mentions(error, "on host:0 (device_ids[0]) but found layer0.weight on host:1"));
}

TEST(DataParallelTest, ModuleOnTheRoot_Works_WhereverTheRootIs) {
  const auto platform = host_devices(3);
  const auto model = exact_model();
  dp::DataParallelOptions how = on_devices({2, 0, 1});
  how.model_device = 2;
  dp::DataParallel strategy(*platform, *model, exact_training(8), how);
  strategy.step();
  strategy.synchronize();
}

// torch moves the module itself where there is a single device.
TEST(DataParallelTest, SingleDevice_MovesTheModule) {
  const auto platform = host_devices(2);
  const auto model = exact_model();
  dp::DataParallelOptions how = on_devices({1});
  how.model_device = 0;
  dp::DataParallel strategy(*platform, *model, exact_training(8), how);
  strategy.step();
  strategy.synchronize();
  EXPECT_EQ(strategy.weights().front().device(), platform->device(1).id());
}

TEST(DataParallelTest, UnlikeDevices_AreWarnedOfOnce_AndUsedAllTheSame) {
  PlatformOptions options;
  options.devices = 2;
  options.oversubscribe = true;
  options.device_memory = {mib(64), mib(32)};
  const auto platform = host::make_host_platform(options);
  const auto model = exact_model();
  dp::DataParallel strategy(*platform, *model, exact_training(8));
  for (int step = 0; step < 2; ++step) strategy.step();
  strategy.synchronize();
  ASSERT_EQ(strategy.warnings().size(), 1U);
  EXPECT_NE(strategy.warnings().front().find("imbalance"), std::string::npos);
  EXPECT_EQ(strategy.devices_used(), 2);
}

// Between cores torch's own orders are copies; an order by name is what it says.
TEST(DataParallelTest, OrdersThatDependOnTheMachine_AreToldAsTheyWere) {
  const auto platform = host_devices(2);
  const auto model = exact_model();
  using Settled = std::map<std::string, std::string>;
  EXPECT_EQ(dp::DataParallel(*platform, *model, exact_training(8)).resolved_options(),
            (Settled{{"broadcast", "sequential"}, {"reduce", "sequential"}}));
  EXPECT_EQ(dp::DataParallel(*platform, *model, exact_training(8),
                             {.broadcast = dp::Order::kCollective, .reduce = dp::Order::kTree})
                .resolved_options(),
            (Settled{{"broadcast", "collective"}, {"reduce", "tree"}}));
  EXPECT_TRUE(dp::DataParallel(*platform, *model, exact_training(8), on_devices({1}))
                  .resolved_options()
                  .empty());
}

class CountingObserver final : public CollectiveObserver {
 public:
  void enqueued(const CollectiveCall&) noexcept override { ++enqueued_; }
  void started(const CollectiveCall&) noexcept override {}
  void finished(const CollectiveCall&) noexcept override {}
  [[nodiscard]] int count() const { return enqueued_; }

 private:
  int enqueued_ = 0;
};

TEST(DataParallelTest, CollectiveTransfers_AreToldToEachDevicesObserver) {
  const auto platform = host_devices(3);
  const auto model = exact_model();
  std::array<CountingObserver, 3> observers;
  const auto options_of = [&](const Device& device) -> CommunicatorOptions {
    return {.observer = &observers.at(static_cast<std::size_t>(device.id().index))};
  };
  dp::DataParallel strategy(*platform, *model, exact_training(8),
                            {.device_ids = {2, 0},
                             .broadcast = dp::Order::kCollective,
                             .reduce = dp::Order::kCollective,
                             .communicators = options_of});
  strategy.step();
  strategy.synchronize();
  EXPECT_GE(observers[2].count(), 2);  // a broadcast and a reduction
  EXPECT_EQ(observers[0].count(), observers[2].count());
  EXPECT_EQ(observers[1].count(), 0);
}

TEST(DataParallelTest, ScalarOutputs_AreWarnedOf_VectorsAreNot) {
  const auto platform = host_devices(2);
  const auto model = exact_model();
  const dp::DataParallel vectors(*platform, *model, exact_training(8));
  EXPECT_TRUE(vectors.warnings().empty());
  const dp::DataParallel scalars(*platform, *model, exact_training(8),
                                 {.loss = dp::LossPlace::kReplicas});
  ASSERT_EQ(scalars.warnings().size(), 1U);
  EXPECT_NE(scalars.warnings().front().find("all outputs are scalars"), std::string::npos);
}

// The loss is that of the whole batch, though shards are uneven: 3, 3, 1.
TEST(DataParallelTest, LossInReplicas_IsTheBatchsLoss) {
  const auto platform = host_devices(3);
  const auto model = exact_model();
  float losses[2] = {};
  for (const auto place : {dp::LossPlace::kRoot, dp::LossPlace::kReplicas}) {
    dp::DataParallel strategy(*platform, *model, exact_training(7), {.loss = place});
    strategy.step();
    strategy.synchronize();
    losses[place == dp::LossPlace::kRoot ? 0 : 1] = strategy.loss();
  }
  EXPECT_GT(losses[0], 0.0F);
  EXPECT_NEAR(losses[0], losses[1], 1e-5F * losses[0]);
}

// What forward changes: the root's replica shares its buffers with the module, attributes are
// copies, and the other replicas are thrown away.
TEST(DataParallelTest, Buffers_OfTheRootPersist_AttributesAreLost) {
  const auto platform = host_devices(2);
  const auto model = make_model("counter");
  dp::DataParallel strategy(*platform, *model, exact_training(8));
  for (int step = 0; step < 3; ++step) strategy.step();
  strategy.synchronize();
  const auto& module = strategy.module();
  EXPECT_EQ(read_back<float>(platform->device(0), Span<const float>(module.buffers.front())),
            std::vector<float>{3});
  EXPECT_TRUE(module.attributes.empty() || module.attributes.at("calls") == 0);
  // Each step's replica got the module's 2 and added its own call.
  const TensorList& buffers = strategy.replica(1).state().buffers;
  EXPECT_EQ(read_back<float>(platform->device(1), Span<const float>(buffers.front())),
            std::vector<float>{3});
}

TEST(DataParallelTest, SingleDevice_CallsTheModuleItself_SoAttributesPersist) {
  const auto platform = host_devices(1);
  const auto model = make_model("counter");
  dp::DataParallel strategy(*platform, *model, exact_training(8));
  for (int step = 0; step < 3; ++step) strategy.step();
  strategy.synchronize();
  EXPECT_EQ(strategy.module().attributes.at("calls"), 3);
}

TEST(DataParallelTest, UpdatesOfAReplica_AreLost) {
  const auto platform = host_devices(2);
  const auto model = exact_model();
  dp::DataParallel untouched(*platform, *model, exact_training(8));
  dp::DataParallel touched(*platform, *model, exact_training(8));
  for (int step = 0; step < 2; ++step) {
    untouched.step();
    touched.step();
    untouched.synchronize();
    touched.synchronize();
    const Span<float> weights = touched.replica(1).parameters().flat;
    put(platform->device(1), weights,
        std::vector<float>(static_cast<std::size_t>(weights.size()), 100.0F));
  }
  EXPECT_EQ(read_back<float>(platform->device(0), Span<const float>(touched.weights().front())),
            read_back<float>(platform->device(0), Span<const float>(untouched.weights().front())));
}

// Batch 1 is one shard: the root's replica alone, on the caller's thread.
TEST(DataParallelTest, OneSample_UsesOneDevice_WithoutThreads) {
  const auto platform = host_devices(4);
  const auto model = exact_model();
  dp::DataParallel strategy(*platform, *model, exact_training(1));
  strategy.step();
  strategy.synchronize();
  EXPECT_EQ(strategy.devices_used(), 1);
  const auto phases = phases_of(strategy.collect_phases().front().times);
  EXPECT_EQ(std::count(phases.begin(), phases.end(), "launch"), 0);
  EXPECT_EQ(std::count(phases.begin(), phases.end(), "gather"), 1);
}

// Scatter 2 and gather 2 shards, targets, forward 5 calls on each, loss, clones of 2 replicas with
// 6 modules and 6 parameters, the nodes of gather and broadcast, 6 parameters updated.
TEST(DataParallelTest, Dispatches_AreCountedPerStep) {
  const auto platform = host_devices(2);
  const auto model = exact_model();
  dp::DataParallel strategy(*platform, *model, exact_training(8));
  strategy.step();
  const std::int64_t first = strategy.dispatches();
  strategy.step();
  strategy.synchronize();
  EXPECT_EQ(first, 2 + 2 + 1 + 2 * 5 + 1 + 2 * (6 + 6) + 2 + 6);
  EXPECT_EQ(strategy.dispatches(), 2 * first);
}

}  // namespace
}  // namespace tandem::test
