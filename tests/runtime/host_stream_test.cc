// SPDX-License-Identifier: Apache-2.0
//
// What only the host back end promises: modelled durations, bound workers, strictness.
#include "common/runtime/host/host_stream.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <limits>

#include "common/runtime/host/cores.h"
#include "common/runtime/host/host_device.h"
#include "common/runtime/host/host_event.h"
#include "common/runtime/host/host_platform.h"
#include "tests/support/errors.h"

namespace tandem::host {
namespace {

using std::chrono::milliseconds;

class HostStreamTest : public testing::Test {
 protected:
  const std::unique_ptr<Platform> platform_ =
      make_host_platform({.devices = 2, .oversubscribe = true});
  Device& device_ = platform_->device(0);
  const std::unique_ptr<Stream> stream_ = device_.make_stream(StreamPriority::kNormal);
  const std::unique_ptr<Stream> other_ = device_.make_stream(StreamPriority::kNormal);
  HostStream& host_ = host_stream(*stream_);

  // Queues a transfer that is modelled to take `duration`.
  void transfer(Nanoseconds duration) {
    host_.enqueue_due([duration](TimePoint ready) { return ready + duration; });
  }

  // When an operation queued on `stream` now runs.
  TimePoint time_of_next_operation(Stream& stream) {
    TimePoint ran;
    host_stream(stream).enqueue({"clock", {}, [&ran] { ran = Clock::now(); }});
    stream.synchronize();
    return ran;
  }
};

TEST_F(HostStreamTest, Synchronize_SleepsToTheModelledEnd) {
  const TimePoint start = Clock::now();
  transfer(milliseconds(20));
  stream_->synchronize();
  EXPECT_GE(Clock::now() - start, milliseconds(20));
}

TEST_F(HostStreamTest, Event_IsDoneAtTheModelledEndOnly) {
  const auto event = device_.make_event();
  transfer(std::chrono::hours(1));

  host_.record(*event);
  EXPECT_FALSE(event->is_done());
  const auto prompt = device_.make_event();
  other_->record(*prompt);
  other_->synchronize();
  EXPECT_TRUE(prompt->is_done());
}

TEST_F(HostStreamTest, AStreamThatWaits_StartsAtTheModelledEnd) {
  const auto event = device_.make_event();
  const TimePoint start = Clock::now();
  transfer(milliseconds(20));
  stream_->record(*event);
  other_->wait(*event);
  EXPECT_GE(time_of_next_operation(*other_) - start, milliseconds(20));
}

TEST_F(HostStreamTest, AnOperationBehindATransfer_StartsAtItsModelledEnd) {
  const TimePoint start = Clock::now();
  transfer(milliseconds(20));
  EXPECT_GE(time_of_next_operation(*stream_) - start, milliseconds(20));
}

TEST_F(HostStreamTest, Transfers_StartAtOneAnothersModelledEnds) {
  const auto before = device_.make_timed_event();
  const auto after = device_.make_timed_event();
  transfer(milliseconds(1));
  stream_->record(*before);
  transfer(milliseconds(7));
  transfer(milliseconds(5));
  stream_->record(*after);
  stream_->synchronize();
  EXPECT_EQ(*after - *before, milliseconds(12));  // no wake-up in between adds to it
}

TEST_F(HostStreamTest, Operations_RunOnTheDevicesCore) {
  int cpu = -1;
  host_.enqueue({"where", {}, [&cpu] { cpu = sched_getcpu(); }});
  stream_->synchronize();
  EXPECT_EQ(cpu, host_device(device_).core());
}

TEST_F(HostStreamTest, Operations_FlushDenormals) {
  volatile float smallest_normal = std::numeric_limits<float>::min();
  float half = 1;
  host_.enqueue({"halve", {}, [&] { half = smallest_normal / 2; }});
  stream_->synchronize();
  EXPECT_EQ(half, 0.0F);
}

TEST_F(HostStreamTest, Record_OfAnotherDevicesEvent_NamesBoth) {
  const auto foreign = platform_->device(1).make_event();
  const Error error = test::error_of([&] { stream_->record(*foreign); });
  EXPECT_NE(std::string(error.what()).find("host:1"), std::string::npos);
  EXPECT_NE(std::string(error.what()).find("host:0"), std::string::npos);
}

TEST_F(HostStreamTest, AThrowThatIsNoException_FailsTheStream) {
  host_.enqueue({"thrower", {}, [] { throw 42; }});
  EXPECT_THROW(stream_->synchronize(), Error);
}

TEST(HostStreamOnNoCoreTest, IsDone_ThrowsAtOnce) {
  HostStream stream({.device = {}, .core = 1023});  // no machine of ours has it
  EXPECT_THROW(static_cast<void>(stream.is_done()), Error);
}

TEST(HostPlatformTest, MoreDevicesThanCores_IsAUsageErrorThatNamesTheWayOut) {
  const int cores = static_cast<int>(allowed_cores().size());
  const Error error =
      test::error_of([&] { static_cast<void>(make_host_platform({.devices = cores + 1})); });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_NE(std::string(error.what()).find("--oversubscribe"), std::string::npos);
}

TEST(HostPlatformTest, Oversubscribed_IsMarked) {
  const int cores = static_cast<int>(allowed_cores().size());
  EXPECT_TRUE(make_host_platform({.devices = cores + 1, .oversubscribe = true})->oversubscribed());
  EXPECT_FALSE(make_host_platform({.devices = cores})->oversubscribed());
}

TEST(ScopedBindingTest, RestoresWhatWasBefore) {
  const std::vector<int> before = allowed_cores();
  { const ScopedBinding bound(before.front()); }
  EXPECT_EQ(allowed_cores(), before);
}

TEST_F(HostStreamTest, Log_HasEachTaskFromItsOpeningOn) {
  host_.delay(milliseconds(1));
  host_.open_log();
  const std::uint32_t opened = host_.tasks_queued();
  host_.delay(milliseconds(2));
  const auto event = device_.make_timed_event();
  host_.record(*event);
  host_.enqueue({"nothing", {}, [] {}});
  EXPECT_EQ(host_.tasks_queued() - opened, 3U);
  host_.pause_log();
  host_.delay(milliseconds(2));
  host_.enqueue({"nothing", {}, [] {}});
  host_.resume_log();
  const TaskLog log = host_.close_log();
  EXPECT_LE(log.after(0), log.before(0));
  EXPECT_GE(log.after(1) - log.before(0), milliseconds(2));
  EXPECT_EQ(log.after(2), static_cast<const HostEvent&>(*event).latest()->end);
  EXPECT_LE(log.after(2), log.before(2));
  EXPECT_LE(log.before(2), log.after(3));
  EXPECT_GE(log.after(5) - log.after(4), milliseconds(2));
}

}  // namespace
}  // namespace tandem::host
