// SPDX-License-Identifier: Apache-2.0
#include "common/base/dispatch_costs.h"

#include <gtest/gtest.h>

#include "common/base/error.h"

namespace tandem::test {
namespace {

using enum DispatchKind;
using std::chrono::microseconds;

DispatchCosts parsed(const std::string& text) { return parse_dispatch_costs(text, "--cost"); }

std::string refusal(const std::string& text) {
  const auto error = capture_error([&] { static_cast<void>(parsed(text)); });
  return error ? error->what() : "";
}

TEST(DispatchCosts, TheList_IsInTheOrderOfTheKinds) {
  for (std::size_t i = 0; i < kDispatchKindCount; ++i) {
    EXPECT_EQ(static_cast<std::size_t>(kDispatchKinds[i].kind), i);
  }
}

TEST(DispatchCosts, OneCost_IsOfEachKindThatPythonDispatches_NotOfAutograd) {
  const DispatchCosts costs = parsed("8us");
  EXPECT_EQ(costs.of(kCall), microseconds(8));
  EXPECT_EQ(costs.of(kReplicaBuffer), microseconds(8));
  EXPECT_EQ(costs.of(kAutograd), Nanoseconds{0});
  EXPECT_EQ(costs.of(kDdpHook), Nanoseconds{0});
  EXPECT_EQ(costs, DispatchCosts::alike(microseconds(8)));
}

TEST(DispatchCosts, Kinds_HaveTheirOwn_AndTheOthersNone) {
  const DispatchCosts costs = parsed("call:3us,replica-module:9.5us,autograd:2us");
  EXPECT_EQ(costs.of(kCall), microseconds(3));
  EXPECT_EQ(costs.of(kReplicaModule), Nanoseconds{9500});
  EXPECT_EQ(costs.of(kAutograd), microseconds(2));
  EXPECT_EQ(costs.of(kOptimizer), Nanoseconds{0});
}

TEST(DispatchCosts, Only_KeepsTheKindsOfOneThread) {
  const DispatchCosts costs = parsed("call:3us,ddp-hook:2us");
  EXPECT_EQ(costs.only(Dispatcher::kPython), parsed("call:3us"));
  EXPECT_EQ(costs.only(Dispatcher::kAutograd), parsed("ddp-hook:2us"));
}

TEST(DispatchCosts, Any_IsWhetherSomethingTakesTime) {
  EXPECT_FALSE(DispatchCosts().any());
  EXPECT_FALSE(parsed("0us").any());
  EXPECT_FALSE(parsed("gather:0us").any());
  EXPECT_TRUE(parsed("ddp-hook:1ns").any());
}

TEST(DispatchCosts, BadText_IsRefusedWithTheMend) {
  EXPECT_NE(refusal("replica-modul:9us").find("(did you mean 'replica-module'?): use one of call,"),
            std::string::npos);
  EXPECT_NE(refusal("call:3us,call:4us").find("'call' is given twice"), std::string::npos);
  EXPECT_NE(refusal("call:3us,9us").find("'9us' has no kind or no cost"), std::string::npos);
  EXPECT_NE(refusal("call:3us,").find("'' has no kind or no cost"), std::string::npos);
  EXPECT_NE(refusal("call:3").find("'3' is no duration"), std::string::npos);
  EXPECT_NE(refusal("gather:1s").find("use 10ms or less"), std::string::npos);
  EXPECT_EQ(refusal("8s"), "--cost=8s: a call takes microseconds: use 10ms or less");
}

TEST(DispatchCosts, Text_IsOneCost_OrThoseOfTheKinds) {
  EXPECT_EQ(to_string(parsed("8us")), to_string(Seconds(8e-6)));
  EXPECT_EQ(to_string(parsed("gather:2us,call:3us,optimizer:0us")),
            "call " + to_string(Seconds(3e-6)) + ", gather " + to_string(Seconds(2e-6)));
}

}  // namespace
}  // namespace tandem::test
