// SPDX-License-Identifier: Apache-2.0
#include "common/runtime/interpreter.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "common/runtime/host/host_platform.h"
#include "common/runtime/host/host_stream.h"

namespace tandem::test {
namespace {

using std::chrono::milliseconds;
using enum DispatchKind;

TimePoint after(int ms) { return TimePoint(milliseconds(ms)); }

TEST(EndOfCallsTest, StartsNowOrWhenTheInterpreterIsFree) {
  EXPECT_EQ(end_of_calls(after(10), after(3), milliseconds(2), 1), after(12));
  EXPECT_EQ(end_of_calls(after(10), after(30), milliseconds(2), 1), after(32));
  EXPECT_EQ(end_of_calls(after(10), after(3), milliseconds(2), 5), after(20));
  EXPECT_EQ(end_of_calls(after(10), after(30), milliseconds(2), 0), after(30));
}

TEST(InterpreterTest, Calls_QueueBehindOneAnother) {
  Interpreter interpreter(DispatchCosts::alike(milliseconds(5)));
  const TimePoint before = Clock::now();
  const TimePoint first = interpreter.dispatch(kCall, 1);
  EXPECT_GE(first - before, milliseconds(5));
  EXPECT_GE(interpreter.dispatch(kCall, 3) - first, milliseconds(15));
  EXPECT_EQ(interpreter.calls(), 4);
}

TEST(InterpreterTest, AtNoCost_CallsAreCountedAndNothingElse) {
  Interpreter interpreter(DispatchCosts{});
  EXPECT_EQ(interpreter.dispatch(kCall, 7), TimePoint{});
  EXPECT_EQ(interpreter.calls(), 7);
}

TEST(InterpreterTest, EachKind_TakesItsOwnCost_AndAllAreCounted) {
  DispatchCosts costs;
  costs.set(kReplicaModule, milliseconds(7));
  costs.set(kGather, milliseconds(100));
  Interpreter interpreter(costs);
  const TimePoint first = interpreter.dispatch(kReplicaModule, 1);
  EXPECT_EQ(interpreter.dispatch(kReplicaModule, 2), first + milliseconds(14));
  EXPECT_EQ(interpreter.dispatch(kGather, 1), first + milliseconds(114));
  EXPECT_EQ(interpreter.calls(), 4);
}

TEST(InterpreterTest, AKindWithoutCost_WaitsForTheCallsBeforeIt) {
  DispatchCosts costs;
  costs.set(kReplicaModule, std::chrono::hours(1));
  Interpreter interpreter(costs);
  const TimePoint built = interpreter.dispatch(kReplicaModule, 3);
  EXPECT_EQ(interpreter.dispatch(kCall, 5), built);
}

TEST(InterpreterTest, CatchUp_MovesFreeForwardAndNeverBack) {
  Interpreter starter(DispatchCosts::alike(std::chrono::hours(1)));
  Interpreter started(DispatchCosts::alike(Nanoseconds{1}));
  const TimePoint busy_until = starter.dispatch(kCall, 1);
  started.catch_up_with(starter);
  const TimePoint end = started.dispatch(kCall, 1);
  EXPECT_EQ(end, busy_until + Nanoseconds{1});
  started.catch_up_with(Interpreter(DispatchCosts::alike(Nanoseconds{1})));
  EXPECT_EQ(started.dispatch(kCall, 1), end + Nanoseconds{1});
}

TEST(InterpreterTest, SharedByThreads_SerialisesAllTheirCalls) {
  Interpreter shared(DispatchCosts::alike(milliseconds(1)));
  const TimePoint before = Clock::now();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&shared] {
      for (int call = 0; call < 100; ++call) shared.dispatch(kCall, 1);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(shared.calls(), 400);
  EXPECT_GE(shared.dispatch(kCall, 0) - before, milliseconds(400));
}

class DispatchTest : public testing::Test {
 protected:
  const std::unique_ptr<Platform> platform_ = host::make_host_platform({});
  const std::unique_ptr<Stream> stream_ = platform_->device(0).make_stream(StreamPriority::kNormal);
};

TEST_F(DispatchTest, WhatIsEnqueuedNext_StartsWhenTheCallsAreOver) {
  Interpreter interpreter(DispatchCosts::alike(milliseconds(10)));
  const TimePoint before = Clock::now();
  dispatch(interpreter, *stream_, kCall, 2);
  TimePoint ran;
  host::host_stream(*stream_).enqueue({"clock", {}, [&ran] { ran = Clock::now(); }});
  stream_->synchronize();
  EXPECT_GE(ran - before, milliseconds(20));
  EXPECT_EQ(interpreter.calls(), 2);
}

TEST_F(DispatchTest, AtNoCost_NothingIsQueued) {
  class Untouched final : public Stream {
    [[nodiscard]] DeviceId device() const override { return {}; }
    void record(Event&) override { ADD_FAILURE(); }
    void wait(const Event&) override { ADD_FAILURE(); }
    void start_after(TimePoint) override { ADD_FAILURE(); }
    void delay(Nanoseconds) override { ADD_FAILURE(); }
    void synchronize() override {}
    [[nodiscard]] bool is_done() override { return true; }
    void copy_bytes(ByteSpan, ConstByteSpan) override {}
    void zero_bytes(ByteSpan) override {}
  };
  Untouched stream;
  Interpreter interpreter(DispatchCosts{});
  dispatch(interpreter, stream, kCall, 3);
  EXPECT_EQ(interpreter.calls(), 3);
}

}  // namespace
}  // namespace tandem::test
