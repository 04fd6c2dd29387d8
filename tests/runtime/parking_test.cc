// SPDX-License-Identifier: Apache-2.0
#include "common/runtime/host/parking.h"

#include <gtest/gtest.h>

#include <thread>

namespace tandem::host {
namespace {

TEST(Parking, ChangeByAPeer_EndsTheWait) {
  Word word{0};
  std::thread peer([&word] {
    word.store(1, std::memory_order_release);
    wake_all(word, Sharing::kThreads);
  });
  EXPECT_TRUE(
      park_while(word, 0, Sharing::kThreads, Clock::now() + Nanoseconds(std::chrono::seconds(30))));
  peer.join();
}

TEST(Parking, NoChange_EndsAtTheDeadline) {
  const Word word{0};
  EXPECT_FALSE(park_while(word, 0, Sharing::kThreads, Clock::now()));
}

}  // namespace
}  // namespace tandem::host
