// SPDX-License-Identifier: Apache-2.0
//
// What can be said of timers without one, and where the thread cannot be made one of a device's.
#include "common/runtime/timer.h"

#include <gtest/gtest.h>

#include "tests/support/errors.h"

namespace tandem::test {
namespace {

using std::chrono::microseconds;

constexpr TimePoint at(int us) { return TimePoint(microseconds(us)); }

TEST(NextTick, AfterAShortTick_IsAPeriodAfterItsStart) {
  EXPECT_EQ(next_tick(at(100), microseconds(50), at(110)), at(150));
  EXPECT_EQ(next_tick(at(100), microseconds(50), at(150)), at(150));
}

TEST(NextTick, AfterALongTick_IsAtOnce_AndMissedOnesAreNotMadeUpFor) {
  EXPECT_EQ(next_tick(at(100), microseconds(50), at(151)), at(151));
  EXPECT_EQ(next_tick(at(100), microseconds(50), at(400)), at(400));
}

TEST(NextTick, WithoutAPeriod_IsAlwaysAtOnce) {
  EXPECT_EQ(next_tick(at(100), Nanoseconds{0}, at(100)), at(100));
}

// A device whose threads cannot be bound.
class Unbindable final : public Device {
 public:
  [[nodiscard]] DeviceId id() const override { return {Backend::kHost, 0}; }
  [[nodiscard]] std::string name() const override { return "unbindable"; }
  [[nodiscard]] std::string hardware() const override { return ""; }
  [[nodiscard]] int multiprocessor_count() const override { return 1; }
  [[nodiscard]] std::unique_ptr<Buffer> allocate(Bytes) override { return nullptr; }
  [[nodiscard]] MemoryUse memory() const override { return {}; }
  [[nodiscard]] std::unique_ptr<Buffer> allocate_host(Bytes) override { return nullptr; }
  [[nodiscard]] std::unique_ptr<Stream> make_stream(StreamPriority) override { return nullptr; }
  [[nodiscard]] std::unique_ptr<Event> make_event() override { return nullptr; }
  [[nodiscard]] std::unique_ptr<TimedEvent> make_timed_event() override { return nullptr; }
  void bind_this_thread() override { fail(ErrorKind::kFailure, "the core is gone"); }
};

TEST(Timer, OnADeviceThatCannotBeBoundTo_ThrowsItsError_AndCallsBackNever) {
  Unbindable device;
  bool called = false;
  const Error error = error_of([&] {
    const Timer timer(device, Nanoseconds{0}, [&](TimePoint) {
      called = true;
      return Tick::kLast;
    });
  });
  EXPECT_STREQ(error.what(), "the core is gone");
  EXPECT_FALSE(called);
}

}  // namespace
}  // namespace tandem::test
