// SPDX-License-Identifier: Apache-2.0
#include "common/trace/phase_timer.h"

#include <gtest/gtest.h>

#include <numeric>
#include <set>

#include "common/runtime/host/host_stream.h"
#include "tests/support/errors.h"
#include "tests/support/host_devices.h"

namespace tandem::test {
namespace {

// Time passes on the stream by modelled durations: exact enough to separate phases, no sleeping
// by the test.
constexpr Nanoseconds kShort = std::chrono::milliseconds(2);
constexpr Nanoseconds kLong = std::chrono::milliseconds(20);

TEST(Phases, StandInTheOrderOfTheirKinds) {
  ASSERT_EQ(kPhases.size(), static_cast<std::size_t>(Phase::kIdle) + 1);
  for (std::size_t i = 0; i < kPhases.size(); ++i) {
    EXPECT_EQ(kPhases[i].phase, static_cast<Phase>(i));
    EXPECT_EQ(name_of(kPhases[i].phase), kPhases[i].name);
    EXPECT_EQ(find_phase(kPhases[i].name), &kPhases[i]);
  }
  EXPECT_EQ(find_phase("zero_grad"), nullptr);
}

class PhaseTimerTest : public testing::Test {
 protected:
  void take(Nanoseconds duration) {
    host::host_stream(*stream_).enqueue_due(
        [duration](TimePoint ready) { return ready + duration; });
  }

  void step(PhaseTimer& timer) {
    timer.begin(*stream_, Phase::kForward);
    take(kShort);
    timer.begin(*stream_, Phase::kBackward);
    take(kLong);
    timer.begin(*stream_, Phase::kForward);  // a phase may come again
    take(kShort);
    timer.end_step(*stream_);
  }

  [[nodiscard]] PhaseTimes collect(PhaseTimer& timer) {
    stream_->synchronize();
    return timer.collect();
  }

  const std::unique_ptr<Platform> platform_ = host_devices(1);
  const std::unique_ptr<Stream> stream_ = platform_->device(0).make_stream(StreamPriority::kNormal);
};

TEST_F(PhaseTimerTest, Totals_PartitionTheSpan) {
  PhaseTimer timer(platform_->device(0), PhaseOptions{PhaseTiming::kOn});
  for (int i = 0; i < 3; ++i) step(timer);
  const PhaseTimes times = collect(timer);
  EXPECT_EQ(std::accumulate(times.total.begin(), times.total.end(), Nanoseconds{0}), times.span);
  EXPECT_GE(times.of(Phase::kForward), 3 * 2 * kShort);
  EXPECT_GE(times.of(Phase::kBackward), 3 * kLong);
  EXPECT_GE(times.of(Phase::kBackward), times.of(Phase::kForward));
  EXPECT_EQ(times.of(Phase::kUpdate), Nanoseconds{0});
}

TEST_F(PhaseTimerTest, Steps_AreCounted_AndForgottenOnceCollected) {
  PhaseTimer timer(platform_->device(0), PhaseOptions{PhaseTiming::kOn});
  for (int i = 0; i < 3; ++i) step(timer);
  EXPECT_EQ(collect(timer).steps, 3);
  EXPECT_EQ(collect(timer).steps, 0);
  step(timer);
  EXPECT_EQ(collect(timer).steps, 1);
}

TEST_F(PhaseTimerTest, TimeBetweenSteps_IsNotCounted) {
  PhaseTimer timer(platform_->device(0), PhaseOptions{PhaseTiming::kOn});
  step(timer);
  take(std::chrono::milliseconds(300));
  step(timer);
  const PhaseTimes times = collect(timer);
  EXPECT_EQ(times.steps, 2);
  EXPECT_LT(times.span, std::chrono::milliseconds(300));
}

TEST_F(PhaseTimerTest, Off_RecordsNothing) {
  PhaseTimer timer(platform_->device(0), PhaseOptions{PhaseTiming::kOff});
  step(timer);
  const PhaseTimes times = collect(timer);
  EXPECT_EQ(times.steps, 0);
  EXPECT_EQ(times.span, Nanoseconds{0});
}

TEST_F(PhaseTimerTest, NothingMarked_IsNoTime) {
  PhaseTimer timer(platform_->device(0), PhaseOptions{PhaseTiming::kOn});
  EXPECT_EQ(timer.collect().span, Nanoseconds{0});
}

TEST(PhaseTest, Names_AreDistinct) {
  const std::set<std::string_view> names(kPhaseNames.begin(), kPhaseNames.end());
  EXPECT_EQ(names.size(), kPhaseCount);
  EXPECT_EQ(name_of(Phase::kLaunch), "launch");
  EXPECT_EQ(name_of(Phase::kBucketCopy), "bucket_copy");
  EXPECT_EQ(name_of(Phase::kExposedComm), "exposed_comm");
  EXPECT_EQ(name_of(Phase::kIdle), "idle");
}

// Counts delays and does nothing else.
class DelayCounter final : public Stream {
 public:
  explicit DelayCounter(DeviceId device) : device_(device) {}

  [[nodiscard]] DeviceId device() const override { return device_; }
  void record(Event&) override {}
  void wait(const Event&) override {}
  void start_after(TimePoint) override {}
  void delay(Nanoseconds duration) override { sum_ += duration; }
  void synchronize() override {}
  [[nodiscard]] bool is_done() override { return true; }
  void copy_bytes(ByteSpan, ConstByteSpan) override {}
  void zero_bytes(ByteSpan) override {}

  [[nodiscard]] Nanoseconds sum() const { return sum_; }

 private:
  const DeviceId device_;
  Nanoseconds sum_{0};
};

// Two steps on device `index`, each in the phase forward twice.
Nanoseconds planted_in_two_steps(int index) {
  const auto platform = host_devices(index + 1);
  PhaseTimer timer(platform->device(index),
                   {.timing = PhaseTiming::kOff, .planted = PlantedDelay{Phase::kForward, kLong}});
  DelayCounter stream(platform->device(index).id());
  for (int i = 0; i < 2; ++i) {
    for (const Phase phase : {Phase::kForward, Phase::kUpdate, Phase::kForward}) {
      timer.begin(stream, phase);
    }
    timer.end_step(stream);
  }
  return stream.sum();
}

TEST(PlantedDelayTest, IsMetOncePerStep_OnTheFirstDeviceAlone) {
  EXPECT_EQ(planted_in_two_steps(0), 2 * kLong);
  EXPECT_EQ(planted_in_two_steps(1), Nanoseconds{0});
}

TEST_F(PhaseTimerTest, PlantedDelay_IsTimeOfItsPhase) {
  PhaseTimer timer(platform_->device(0), {.planted = PlantedDelay{Phase::kForward, kLong}});
  timer.begin(*stream_, Phase::kForward);
  timer.begin(*stream_, Phase::kUpdate);
  timer.end_step(*stream_);
  const PhaseTimes times = collect(timer);
  EXPECT_GE(times.of(Phase::kForward), kLong);
  EXPECT_GE(times.of(Phase::kForward), times.of(Phase::kUpdate));
}

TEST_F(PhaseTimerTest, Observers_AreToldInOrder_WithTimingOffToo) {
  struct Story final : StepObserver {
    void phase_begins(Device& device, Stream&, Phase phase) override {
      text += fmt::format("{}@{} ", name_of(phase), device.id().index);
    }
    void step_ends(Device&, Stream&) override { text += "end "; }
    void step_abandoned(Device&, Stream&) override { text += "abandoned "; }
    std::string text;
  };
  Story first;
  Story second;
  PhaseTimer timer(platform_->device(0),
                   PhaseOptions{PhaseTiming::kOff, std::nullopt, {&first, &second}});
  step(timer);
  EXPECT_EQ(first.text, "forward@0 backward@0 forward@0 end ");
  timer.begin(*stream_, Phase::kLoss);
  timer.abandon_step(*stream_);
  EXPECT_TRUE(first.text.ends_with(" end loss@0 abandoned "));
  EXPECT_EQ(second.text, first.text);
}

}  // namespace
}  // namespace tandem::test
