// SPDX-License-Identifier: Apache-2.0
#include "bench/driver/sampler.h"

#include <gtest/gtest.h>

#include "tests/support/fake_communicator.h"
#include "tests/support/host_devices.h"

namespace tandem::bench {
namespace {

class CountedSteps final : public Strategy {
 public:
  void step() override { ++steps; }
  void synchronize() override {}
  [[nodiscard]] TensorList weights() override { return {}; }
  [[nodiscard]] TensorList gradients() override { return {}; }
  [[nodiscard]] std::vector<DeviceTimes> collect_phases() override { return {}; }
  [[nodiscard]] std::int64_t dispatches() const override { return 0; }

  int steps = 0;
};

class WarmUpTest : public testing::Test {
 protected:
  const std::unique_ptr<Platform> platform_ = test::host_devices(1);
  test::FakeCommunicator alone_{platform_->device(0), 0, 1};
  CountedSteps strategy_;
  Sampler sampler_{strategy_, alone_, 1};
};

TEST_F(WarmUpTest, GoesOnUntilTheMachineIsSteady) {
  int asked = 0;
  const Warmup warmup = sampler_.warm_up(
      {.steps = 2, .is_steady = [&] { return ++asked == 5; }, .cap = std::chrono::hours(1)});
  EXPECT_EQ(asked, 5);  // after each sample but the first step
  EXPECT_EQ(warmup.steps, 6);
  EXPECT_EQ(strategy_.steps, 6);
}

TEST_F(WarmUpTest, EndsAtItsCap_SteadyOrNot) {
  const Warmup warmup = sampler_.warm_up(
      {.steps = 4, .is_steady = [] { return false; }, .cap = std::chrono::nanoseconds(1)});
  EXPECT_EQ(warmup.steps, 4);
}

TEST_F(WarmUpTest, OfASteadyMachine_EndsAtItsLimits) {
  EXPECT_EQ(sampler_.warm_up({.steps = 3}).steps, 3);
  EXPECT_EQ(
      sampler_.warm_up({.steps = 3, .is_steady = [] { return true; }, .cap = std::chrono::hours(1)})
          .steps,
      3);
}

}  // namespace
}  // namespace tandem::bench
