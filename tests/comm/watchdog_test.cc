// SPDX-License-Identifier: Apache-2.0
#include "common/comm/watchdog.h"

#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <vector>

#include "tests/support/errors.h"

namespace tandem::test {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

constexpr CollectiveCall kCall{.sequence = 17, .name = "all_reduce", .size = mib(4)};

// Whatever the watchdog says first.
struct Bark {
  std::promise<std::string> said{};
  PeerFailure between{};  // set before
  Watchdog::Action action() {
    return [this](const Error& error) {
      between = error.peer_failure();
      said.set_value(error.what());
    };
  }
};

TEST(WatchdogTest, CallPastTheDeadline_IsNamed) {
  Bark bark;
  Watchdog dog(3, milliseconds(5), bark.action());
  const auto watch = dog.watch(kCall);
  const std::string line = bark.said.get_future().get();
  EXPECT_EQ(line.find("rank 3 waited "), 0U) << line;
  EXPECT_NE(line.find(" in all_reduce (#17, 4.0 MiB) "), std::string::npos) << line;
  EXPECT_EQ(bark.between.kind, PeerFailure::Kind::kWaited);
  EXPECT_EQ(bark.between.call, "all_reduce");
  EXPECT_EQ(bark.between.sequence, 17U);
  EXPECT_GE(bark.between.waited, milliseconds(5));
}

TEST(WatchdogTest, OneOfSeveralCalls_IsNamed) {
  Bark bark;
  Watchdog dog(0, milliseconds(50), bark.action());
  std::unique_ptr<Watchdog::Watch> first(
      new Watchdog::Watch(dog.watch({.sequence = 1, .name = "ended", .size = Bytes{0}})));
  const auto second = dog.watch(kCall);
  first.reset();
  EXPECT_NE(bark.said.get_future().get().find("all_reduce"), std::string::npos);
}

TEST(WatchdogTest, MoreCallsThanItCanWatch_AreALogicError) {
  Bark bark;
  Watchdog dog(0, hours(1), bark.action());
  std::vector<std::unique_ptr<Watchdog::Watch>> watches;
  const auto add = [&] { watches.emplace_back(new Watchdog::Watch(dog.watch(kCall))); };
  for (std::size_t i = 0; i < Watchdog::kMostCalls; ++i) add();
  EXPECT_EQ(error_of(add).kind(), ErrorKind::kLogic);
  watches.pop_back();
  EXPECT_NO_THROW(add());
}

TEST(WatchdogTest, CallOutsideTheSequence_HasNoNumber) {
  Bark bark;
  Watchdog dog(0, milliseconds(5), bark.action());
  const auto watch = dog.watch({.sequence = 0, .name = "barrier", .size = Bytes{0}});
  const std::string line = bark.said.get_future().get();
  EXPECT_NE(line.find(" in barrier (0 B)"), std::string::npos) << line;
}

TEST(WatchdogTest, CallThatEnded_IsForgotten) {
  Bark bark;
  Watchdog dog(0, milliseconds(5), bark.action());
  for (int i = 0; i < 1000; ++i) {
    const auto watch = dog.watch({.sequence = 1, .name = "ended", .size = Bytes{0}});
  }
  const auto watch = dog.watch(kCall);
  EXPECT_EQ(bark.said.get_future().get().find("ended"), std::string::npos);
}

TEST(WatchdogTest, Expiry_NeedsNoCall_AndEndsALongSleep) {
  Bark bark;
  Watchdog dog(0, hours(1), bark.action());
  dog.expire(milliseconds(1), "it is over");
  EXPECT_EQ(bark.said.get_future().get(), "it is over");
}

TEST(WatchdogTest, WithoutLateCalls_EndsSilently) {
  Bark bark;
  auto said = bark.said.get_future();
  {
    Watchdog dog(0, hours(1), bark.action());
    const auto watch = dog.watch(kCall);
  }
  EXPECT_EQ(said.wait_for(milliseconds(0)), std::future_status::timeout);
}

}  // namespace
}  // namespace tandem::test
