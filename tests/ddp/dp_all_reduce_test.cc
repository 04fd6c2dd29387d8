// SPDX-License-Identifier: Apache-2.0
#include "ddp/dp_all_reduce.h"

#include <gtest/gtest.h>

#include "common/model/zoo.h"
#include "tests/support/errors.h"
#include "tests/support/failing_model.h"
#include "tests/support/host_devices.h"
#include "tests/support/training.h"

namespace tandem::test {
namespace {

class DpAllReduceFaultTest : public testing::TestWithParam<int> {};

TEST_P(DpAllReduceFaultTest, FailingWorkOnOneDevice_EndsAll) {
  const auto platform = host_devices(3);
  const FailingModel model(GetParam(), 2, FailingModel::Where::kQueuedWork);
  ddp::DpAllReduce strategy(*platform, model, exact_training(12));
  const Error error = error_of([&] {
    for (int step = 0; step < 4; ++step) strategy.step();
    strategy.synchronize();
  });
  EXPECT_EQ(error.what(), FailingModel::message(GetParam()));
}

TEST_P(DpAllReduceFaultTest, FailingCallOnOneDevice_EndsAll) {
  const auto platform = host_devices(3);
  const FailingModel model(GetParam(), 3, FailingModel::Where::kCall);
  ddp::DpAllReduce strategy(*platform, model, exact_training(12));
  const Error error = error_of([&] {
    for (int step = 0; step < 4; ++step) strategy.step();
  });
  EXPECT_EQ(error.what(), FailingModel::message(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Devices, DpAllReduceFaultTest, testing::Range(0, 3));

TEST(DpAllReduceTest, TooLittleMemoryOnOneDevice_IsOutOfMemory) {
  PlatformOptions options;
  options.devices = 2;
  options.oversubscribe = true;
  options.device_memory = {mib(64), kib(64)};
  const auto platform = host::make_host_platform(options);
  const auto model = make_model("mlp-tiny");
  const Error error =
      error_of([&] { ddp::DpAllReduce strategy(*platform, *model, exact_training(8)); });
  EXPECT_EQ(error.kind(), ErrorKind::kOutOfMemory) << error.what();
}

TEST(DpAllReduceTest, DestroyedWithoutSynchronize_EndsItsWorkFirst) {
  const auto platform = host_devices(2);
  const auto model = make_model("mlp-tiny");
  ddp::DpAllReduce strategy(*platform, *model, exact_training(8));
  for (int step = 0; step < 3; ++step) strategy.step();
}

TEST(DpAllReduceTest, Scattered_ThePhaseIsScatter_Own_ItIsInput) {
  const auto platform = host_devices(2);
  const auto model = exact_model();
  for (const auto shards : {ddp::Shards::kOwn, ddp::Shards::kScattered}) {
    ddp::DpAllReduce strategy(*platform, *model, exact_training(8), {.shards = shards});
    for (int step = 0; step < 2; ++step) strategy.step();
    strategy.synchronize();
    for (const DeviceTimes& device : strategy.collect_phases()) {
      const bool scattered = shards == ddp::Shards::kScattered;
      EXPECT_EQ(device.times.of(Phase::kScatter).count() > 0, scattered);
      EXPECT_EQ(device.times.of(Phase::kInput).count() > 0, !scattered);
      EXPECT_GT(device.times.of(Phase::kLaunch).count(), 0);
    }
  }
}

TEST(DpAllReduceTest, UnevenBatch_IsRefused) {
  const auto platform = host_devices(2);
  const auto model = exact_model();
  const Error error =
      error_of([&] { ddp::DpAllReduce strategy(*platform, *model, exact_training(9)); });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
}

}  // namespace
}  // namespace tandem::test
