// SPDX-License-Identifier: Apache-2.0
//
// The part of the contract that shows only when the test itself queues work. A real GPU is left
// out: tests link no CUDA, so they have no work of their own for it, and only what copies can show
// is checked there. BackEnd::enqueue(stream, body) queues a function.
#pragma once

#include <atomic>
#include <latch>
#include <thread>
#include <utility>

#include "tests/runtime/runtime_contract.h"

namespace tandem::test {

template <class Backend>
class RuntimeContractOfWork : public RuntimeContractOfData<Backend> {
 protected:
  static void enqueue(Stream& s, std::function<void()> body) {
    Backend::enqueue(s, std::move(body));
  }
};

TYPED_TEST_SUITE_P(RuntimeContractOfWork);

TYPED_TEST_P(RuntimeContractOfWork, Work_RunsOffTheCallersThread) {
  std::latch gate(1);
  std::thread::id ran_on;
  const auto s = this->stream();
  this->enqueue(*s, [&] {
    gate.wait();  // would hang here if it ran in the caller
    ran_on = std::this_thread::get_id();
  });
  gate.count_down();
  s->synchronize();
  EXPECT_NE(ran_on, std::thread::id{});
  EXPECT_NE(ran_on, std::this_thread::get_id());
}

TYPED_TEST_P(RuntimeContractOfWork, Stream_IsFirstInFirstOut) {
  std::vector<int> order;
  const auto s = this->stream();
  for (int i = 0; i < 100; ++i) this->enqueue(*s, [&order, i] { order.push_back(i); });
  s->synchronize();
  ASSERT_EQ(order.size(), 100U);
  EXPECT_TRUE(std::ranges::is_sorted(order));
}

TYPED_TEST_P(RuntimeContractOfWork, HeldUpWork_IsNotDone) {
  std::latch gate(1);
  const auto s = this->stream();
  const auto event = this->device(0).make_event();
  this->enqueue(*s, [&] { gate.wait(); });
  s->record(*event);
  EXPECT_FALSE(s->is_done());
  EXPECT_FALSE(event->is_done());
  gate.count_down();
  s->synchronize();
  EXPECT_TRUE(s->is_done());
  EXPECT_TRUE(event->is_done());
}

TYPED_TEST_P(RuntimeContractOfWork, Wait_HoldsBackWhatIsEnqueuedAfterIt) {
  std::latch gate(1);
  std::latch before_ran(1);
  std::atomic<bool> after_ran = false;
  const auto first = this->stream(0);
  const auto second = this->stream(1);
  const auto event = this->device(0).make_event();
  this->enqueue(*first, [&] { gate.wait(); });
  first->record(*event);
  this->enqueue(*second, [&] { before_ran.count_down(); });
  second->wait(*event);
  this->enqueue(*second, [&] { after_ran = true; });
  before_ran.wait();  // what came before the wait is free to run
  EXPECT_FALSE(second->is_done());
  EXPECT_FALSE(after_ran);
  gate.count_down();
  second->synchronize();
  EXPECT_TRUE(after_ran);
}

TYPED_TEST_P(RuntimeContractOfWork, RecordingAgain_DoesNotMoveEarlierWaits) {
  std::latch gate(1);
  const auto first = this->stream();
  const auto second = this->stream();
  const auto event = this->device(0).make_event();
  first->record(*event);
  second->wait(*event);
  this->enqueue(*first, [&] { gate.wait(); });
  first->record(*event);
  second->synchronize();  // would hang if the wait had moved to the second record
  EXPECT_FALSE(event->is_done());
  gate.count_down();
  first->synchronize();
  EXPECT_TRUE(event->is_done());
}

TYPED_TEST_P(RuntimeContractOfWork, Wait_TakesTheRecordCurrentAtTheCall) {
  std::latch gate(1);
  std::atomic<bool> ran = false;
  const auto first = this->stream();
  const auto second = this->stream();
  const auto event = this->device(0).make_event();
  first->record(*event);
  first->synchronize();  // the first record is done; the second will not be
  this->enqueue(*first, [&] { gate.wait(); });
  first->record(*event);
  second->wait(*event);
  this->enqueue(*second, [&] { ran = true; });
  EXPECT_FALSE(second->is_done());
  EXPECT_FALSE(ran);
  gate.count_down();
  second->synchronize();
  EXPECT_TRUE(ran);
}

TYPED_TEST_P(RuntimeContractOfWork, Event_MayMoveToAnotherStream) {
  std::latch gate(1);
  std::atomic<bool> ran = false;
  const auto held = this->stream();
  const auto free = this->stream();
  const auto waiter = this->stream();
  const auto event = this->device(0).make_event();
  this->enqueue(*held, [&] { gate.wait(); });
  held->record(*event);
  free->record(*event);  // now stands for this stream's work alone
  waiter->wait(*event);
  this->enqueue(*waiter, [&] { ran = true; });
  waiter->synchronize();
  EXPECT_TRUE(ran);
  gate.count_down();
}

TYPED_TEST_P(RuntimeContractOfWork, TwoStreams_Overlap) {
  std::latch both(2);  // neither gets past it alone
  const auto first = this->stream(0);
  const auto second = this->stream(0);
  this->enqueue(*first, [&] { both.arrive_and_wait(); });
  this->enqueue(*second, [&] { both.arrive_and_wait(); });
  first->synchronize();
  second->synchronize();
  EXPECT_TRUE(both.try_wait());
}

TYPED_TEST_P(RuntimeContractOfWork, Destruction_WaitsForQueuedWork) {
  std::latch gate(1);
  std::atomic<int> ran = 0;
  auto s = this->stream();
  this->enqueue(*s, [&] { gate.wait(); });
  for (int i = 0; i < 10; ++i) this->enqueue(*s, [&] { ++ran; });
  gate.count_down();
  s.reset();
  EXPECT_EQ(ran, 10);
}

TYPED_TEST_P(RuntimeContractOfWork, TimedEvents_CoverTheWorkBetweenThem) {
  const auto s = this->stream();
  const auto start = this->device(0).make_timed_event();
  const auto end = this->device(0).make_timed_event();
  Nanoseconds inside{0};
  s->record(*start);
  this->enqueue(*s, [&] {
    const TimePoint begin = Clock::now();
    while (Clock::now() - begin < std::chrono::milliseconds(2)) std::this_thread::yield();
    inside = Clock::now() - begin;
  });
  s->record(*end);
  s->synchronize();
  EXPECT_GE(*end - *start, inside - std::chrono::microseconds(1));
}

REGISTER_TYPED_TEST_SUITE_P(RuntimeContractOfWork, Work_RunsOffTheCallersThread,
                            Stream_IsFirstInFirstOut, HeldUpWork_IsNotDone,
                            Wait_HoldsBackWhatIsEnqueuedAfterIt,
                            RecordingAgain_DoesNotMoveEarlierWaits,
                            Wait_TakesTheRecordCurrentAtTheCall, Event_MayMoveToAnotherStream,
                            TwoStreams_Overlap, Destruction_WaitsForQueuedWork,
                            TimedEvents_CoverTheWorkBetweenThem);

}  // namespace tandem::test
