// SPDX-License-Identifier: Apache-2.0
#include "common/runtime/host/parking.h"

#include <gtest/gtest.h>

#include <thread>

namespace tandem::host {
namespace {

constexpr Nanoseconds kLong = std::chrono::seconds(30);

TEST(PeerWaits, ScopeEnds_WaitsParkAgain) {
  EXPECT_EQ(peer_waits(), PeerWaits::kPark);
  {
    const ScopedPeerWaits spin(PeerWaits::kSpin);
    EXPECT_EQ(peer_waits(), PeerWaits::kSpin);
    const ScopedPeerWaits park(PeerWaits::kPark);
    EXPECT_EQ(peer_waits(), PeerWaits::kPark);
  }
  EXPECT_EQ(peer_waits(), PeerWaits::kPark);
}

class AwaitPeer : public testing::TestWithParam<PeerWaits> {};

TEST_P(AwaitPeer, ChangeByAPeer_EndsTheWait) {
  const ScopedPeerWaits waits(GetParam());
  Word word{0};
  std::thread peer([&word] {
    word.store(1, std::memory_order_release);
    wake_peers(word, Sharing::kThreads);
  });
  EXPECT_TRUE(await_peer(word, 0, Sharing::kThreads, Clock::now() + kLong));
  peer.join();
}

TEST_P(AwaitPeer, NoChange_EndsAtTheDeadline) {
  const ScopedPeerWaits waits(GetParam());
  const Word word{0};
  EXPECT_FALSE(await_peer(word, 0, Sharing::kThreads, Clock::now()));
}

INSTANTIATE_TEST_SUITE_P(, AwaitPeer, testing::Values(PeerWaits::kPark, PeerWaits::kSpin),
                         [](const auto& one) {
                           return one.param == PeerWaits::kPark ? "Park" : "Spin";
                         });

}  // namespace
}  // namespace tandem::host
