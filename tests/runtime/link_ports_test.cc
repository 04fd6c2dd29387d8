// SPDX-License-Identifier: Apache-2.0
#include "common/runtime/host/link_ports.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

#include "tests/support/errors.h"

namespace tandem::test {
namespace {

using std::chrono::milliseconds;

constexpr DeviceId device(int index) { return {Backend::kHost, index}; }
constexpr DeviceId kHost{};
constexpr Nanoseconds kLong = milliseconds(10);

TimePoint at(int ms) { return TimePoint(milliseconds(ms)); }

class LinkPortsTest : public testing::Test {
 protected:
  TimePoint transfer(DeviceId from, DeviceId to, TimePoint ready) {
    return reserve_transfer(*ports_, from, to, ready, kLong);
  }
  const std::unique_ptr<LinkPorts> ports_ = std::make_unique<LinkPorts>();
};

TEST_F(LinkPortsTest, FanOut_QueuesAtTheSendersEgress) {
  EXPECT_EQ(transfer(device(0), device(1), at(5)), at(15));
  EXPECT_EQ(transfer(device(0), device(2), at(5)), at(25));
  EXPECT_EQ(transfer(device(0), device(3), at(5)), at(35));
}

TEST_F(LinkPortsTest, FanIn_QueuesAtTheReceiversIngress) {
  EXPECT_EQ(transfer(device(1), device(0), at(5)), at(15));
  EXPECT_EQ(transfer(device(2), device(0), at(5)), at(25));
}

TEST_F(LinkPortsTest, Ports_AreFullDuplex) {
  EXPECT_EQ(transfer(device(0), device(1), at(5)), at(15));
  EXPECT_EQ(transfer(device(1), device(0), at(5)), at(15));
}

TEST_F(LinkPortsTest, Pairs_DoNotDisturbEachOther) {
  EXPECT_EQ(transfer(device(0), device(1), at(5)), at(15));
  EXPECT_EQ(transfer(device(2), device(3), at(5)), at(15));
}

TEST_F(LinkPortsTest, Host_HasOnePortForAllDevices) {
  EXPECT_EQ(transfer(kHost, device(0), at(5)), at(15));
  EXPECT_EQ(transfer(kHost, device(63), at(5)), at(25));
}

TEST_F(LinkPortsTest, PortThatIsFree_StartsWhenReady) {
  EXPECT_EQ(transfer(device(0), device(1), at(5)), at(15));
  EXPECT_EQ(transfer(device(0), device(1), at(100)), at(110));
}

TEST_F(LinkPortsTest, Collective_TakesAllPortsOfItsDevicesBothWays) {
  EXPECT_EQ(transfer(device(1), device(9), at(5)), at(15));
  const std::vector<DeviceId> ranks{device(0), device(1), device(2)};
  EXPECT_EQ(reserve_collective(*ports_, ranks, at(7), kLong), at(25));
  EXPECT_EQ(transfer(device(2), device(8), at(5)), at(35));
  EXPECT_EQ(transfer(device(8), device(0), at(5)), at(35));
  EXPECT_EQ(transfer(device(5), device(6), at(5)), at(15));
}

TEST_F(LinkPortsTest, ReservationsOfManyThreads_NeverOverlap) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([this, i] {
      for (int round = 0; round < 1000; ++round) {
        static_cast<void>(transfer(device(0), device(i), at(0)));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(transfer(device(0), device(9), at(0)), TimePoint(4001 * kLong));
}

TEST_F(LinkPortsTest, MoreDevicesThanPorts_AreALogicError) {
  const Error error = error_of([this] { static_cast<void>(transfer(device(0), device(64), {})); });
  EXPECT_EQ(error.kind(), ErrorKind::kLogic);
}

}  // namespace
}  // namespace tandem::test
