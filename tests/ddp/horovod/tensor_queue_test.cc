// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <thread>

#include "ddp/horovod/horovod_reducer.h"
#include "tests/support/errors.h"

namespace tandem::ddp::horovod {
namespace {

using test::error_of;

TEST(TensorQueue, Take_GivesWhatWasPushedSinceTheLastTake) {
  TensorQueue queue;
  queue.push(3);
  queue.push(1);
  EXPECT_EQ(queue.take().tensors, (std::vector<int>{3, 1}));
  EXPECT_EQ(queue.take().tensors, std::vector<int>{});
  EXPECT_FALSE(queue.take().shut_down);
}

TEST(TensorQueue, AwaitLaunches_WithNothingPushed_ReturnsAtOnce) {
  TensorQueue queue;
  EXPECT_EQ(queue.await_launches(), std::vector<Bytes>{});
}

TEST(TensorQueue, AwaitLaunches_TellsTheGroupsSinceTheLastCall) {
  TensorQueue queue;
  for (const int tensor : {0, 1, 2}) queue.push(tensor);
  std::thread cycles([&] {
    queue.note_launches(2, {Bytes{8}});
    queue.note_launches(0, {});
    queue.note_launches(1, {Bytes{4}});
  });
  const auto groups = queue.await_launches();
  cycles.join();
  EXPECT_EQ(groups, (std::vector<Bytes>{Bytes{8}, Bytes{4}}));
  EXPECT_EQ(queue.await_launches(), std::vector<Bytes>{});
}

TEST(TensorQueue, FailedCycles_FailWhoeverWaits) {
  TensorQueue queue;
  queue.push(0);
  std::thread cycles([&] { queue.end(Error(ErrorKind::kCommunication, "rank 1 is lost")); });
  EXPECT_STREQ(error_of([&] { static_cast<void>(queue.await_launches()); }).what(),
               "rank 1 is lost");
  cycles.join();
  EXPECT_STREQ(queue.failure()->what(), "rank 1 is lost");
}

TEST(TensorQueue, CyclesShutDown_LeaveThoseWithNothing_WhoStillWait) {
  TensorQueue queue;
  queue.push(0);
  std::thread cycles([&] { queue.end(std::nullopt); });
  EXPECT_FALSE(queue.await_launches());
  cycles.join();
  EXPECT_FALSE(queue.failure());
}

TEST(TensorQueue, CyclesThatEndAfterTheLastLaunch_AreNotInTheWay) {
  for (const auto& failure :
       {std::optional<Error>(), std::optional(Error(ErrorKind::kLogic, ""))}) {
    TensorQueue queue;
    queue.push(0);
    queue.note_launches(1, {Bytes{4}});
    queue.end(failure);
    EXPECT_TRUE(queue.await_launches());
  }
}

TEST(TensorQueue, ShutDown_IsTaken_AndWaitsForTheEnd) {
  TensorQueue queue;
  bool ended = false;
  std::thread cycles([&] {
    while (!queue.take().shut_down) std::this_thread::yield();
    ended = true;
    queue.end(std::nullopt);
  });
  queue.shut_down();
  EXPECT_TRUE(ended);
  cycles.join();
}

}  // namespace
}  // namespace tandem::ddp::horovod
