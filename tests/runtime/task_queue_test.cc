// SPDX-License-Identifier: Apache-2.0
#include "common/runtime/host/task_queue.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

namespace tandem::host {
namespace {

// A queue with its worker.
class TaskQueueTest : public testing::Test {
 protected:
  ~TaskQueueTest() override {
    push([this] { closed_ = true; });
    worker_.join();
  }

  template <class Work>
  void push(Work work) {
    queue_.push([this, work] {
      work();
      queue_.note_carried_out();
    });
  }

  // Returns once all that was pushed before has run.
  void wait() {
    Word done{0};
    push([&done] {
      done.store(1);
      wake_all(done, Sharing::kThreads);
    });
    park_while(done, 0, Sharing::kThreads);
  }

  TaskQueue queue_;

 private:
  bool closed_ = false;
  std::thread worker_{[this] {
    while (!closed_) queue_.run_next();
  }};
};

TEST_F(TaskQueueTest, RunsInOrder) {
  std::vector<int> order;
  for (int i = 0; i < 5000; ++i) push([&order, i] { order.push_back(i); });
  wait();
  ASSERT_EQ(order.size(), 5000U);
  for (int i = 0; i < 5000; ++i) EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
}

// The worker has parked, or is about to, whenever the next task comes.
TEST_F(TaskQueueTest, WakesAParkedWorkerEachTime) {
  int ran = 0;
  for (int i = 0; i < 20000; ++i) {
    push([&ran] { ++ran; });
    if (i % 3 == 0) wait();
  }
  wait();
  EXPECT_EQ(ran, 20000);
}

TEST_F(TaskQueueTest, TellsWhenAllIsCarriedOut) {
  EXPECT_TRUE(queue_.is_carried_out());
  Word gate{0};
  int ran = 0;
  push([&] {
    park_while(gate, 0, Sharing::kThreads);
    ++ran;
  });
  EXPECT_FALSE(queue_.is_carried_out());
  gate.store(1);
  wake_all(gate, Sharing::kThreads);
  while (!queue_.is_carried_out()) std::this_thread::yield();
  EXPECT_EQ(ran, 1);  // visible, though nothing else orders the two threads
}

// What a task holds ends with it, also where its place in the queue is not used again.
TEST_F(TaskQueueTest, ATaskEndsOnceItHasRun) {
  const auto witness = std::make_shared<int>(0);
  push([witness] { ++*witness; });
  wait();
  EXPECT_EQ(*witness, 1);
  EXPECT_EQ(witness.use_count(), 1);
}

TEST_F(TaskQueueTest, CallersMayTakeTurns) {
  std::vector<int> order;
  for (int turn = 0; turn < 50; ++turn) {
    std::thread([&] {
      for (int i = 0; i < 20; ++i) push([&order, at = 20 * turn + i] { order.push_back(at); });
    }).join();
  }
  wait();
  ASSERT_EQ(order.size(), 1000U);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
}

}  // namespace
}  // namespace tandem::host
