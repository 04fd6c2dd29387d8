// SPDX-License-Identifier: Apache-2.0
#include "common/parallel/interpreters.h"

#include <gtest/gtest.h>

namespace tandem::test {
namespace {

using std::chrono::hours;

// So long that no call ends by itself while a test runs: times are ordered by calls alone.
const InterpreterOptions kOwn{.costs = DispatchCosts::alike(hours(1)),
                              .lock = InterpreterLock::kOff};
const InterpreterOptions kShared{.costs = DispatchCosts::alike(hours(1)),
                                 .lock = InterpreterLock::kOn};

TEST(InterpretersTest, OwnOnes_AreTakenByTheirOwnThreadAlone) {
  Interpreters interpreters(kOwn, 2);
  const TimePoint first = interpreters.worker(0).dispatch(DispatchKind::kCall, 3);
  EXPECT_LT(interpreters.worker(1).dispatch(DispatchKind::kCall, 1), first);
}

TEST(InterpretersTest, UnderTheLock_CallsOfAllThreadsFollowOneAnother) {
  Interpreters interpreters(kShared, 2);
  const TimePoint first = interpreters.worker(0).dispatch(DispatchKind::kCall, 3);
  EXPECT_EQ(interpreters.worker(1).dispatch(DispatchKind::kCall, 1), first + hours(1));
  EXPECT_EQ(interpreters.caller().dispatch(DispatchKind::kCall, 1), first + hours(2));
}

TEST(InterpretersTest, Fork_PutsWorkersBehindTheCaller_JoinTheCallerBehindTheLastWorker) {
  Interpreters interpreters(kOwn, 2);
  const TimePoint before = interpreters.caller().dispatch(DispatchKind::kCall, 2);
  interpreters.fork();
  const TimePoint a = interpreters.worker(0).dispatch(DispatchKind::kCall, 1);
  const TimePoint b = interpreters.worker(1).dispatch(DispatchKind::kCall, 5);
  EXPECT_EQ(a, before + hours(1));
  EXPECT_EQ(b, before + hours(5));
  interpreters.join();
  EXPECT_EQ(interpreters.caller().dispatch(DispatchKind::kCall, 1), b + hours(1));
}

TEST(InterpretersTest, Calls_AreCountedOverAllThreads_AlsoAtNoCost) {
  for (const InterpreterLock lock : {InterpreterLock::kOff, InterpreterLock::kOn}) {
    Interpreters interpreters({.costs = {}, .lock = lock}, 2);
    static_cast<void>(interpreters.caller().dispatch(DispatchKind::kCall, 1));
    static_cast<void>(interpreters.worker(0).dispatch(DispatchKind::kCall, 2));
    static_cast<void>(interpreters.worker(1).dispatch(DispatchKind::kCall, 3));
    EXPECT_EQ(interpreters.calls(), 6);
  }
}

}  // namespace
}  // namespace tandem::test
