// SPDX-License-Identifier: Apache-2.0
#include "bench/passes/contention.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace tandem::bench {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr Nanoseconds kForward = std::chrono::milliseconds(2);
constexpr Nanoseconds kBackward = std::chrono::milliseconds(4);
constexpr Nanoseconds kWait = std::chrono::milliseconds(1);

// Steps whose backward takes `factor` as long while there is communication, and which wait then.
DevicePhaseTimes times_of(int device, const ContentionPlan& plan, double factor) {
  DevicePhaseTimes found{.device = device, .samples = {}};
  for (int block = 0; block < 2 * plan.pairs; ++block) {
    const bool is_on = ContentionPlan::is_on(block);
    for (int i = 0; i < plan.samples; ++i) {
      PhaseTimes times{.steps = 1};
      // Drifts by a thousandth a block, as machines do.
      const double drift = 1 + 0.001 * block;
      const auto set = [&](Phase phase, double nanoseconds) {
        times.total[static_cast<std::size_t>(phase)] =
            Nanoseconds(static_cast<Nanoseconds::rep>(nanoseconds * drift));
        times.span += times.of(phase);
      };
      set(Phase::kForward, static_cast<double>(kForward.count()));
      set(Phase::kBackward, static_cast<double>(kBackward.count()) * (is_on ? factor : 1));
      if (is_on) set(Phase::kExposedComm, static_cast<double>(kWait.count()));
      found.samples.push_back(times);
    }
  }
  return found;
}

const PhaseContention& phase(const Contention& contention, const char* name) {
  const auto found = std::ranges::find(contention.phases, name, &PhaseContention::phase);
  EXPECT_NE(found, contention.phases.end()) << name;
  return *found;
}

TEST(Contention, IsFoundWhereItWasPlanted) {
  const ContentionPlan plan{.pairs = 30, .samples = 3};
  const Contention found = contention_of({times_of(0, plan, 1.2), times_of(1, plan, 1.3)}, plan);
  const PhaseContention& backward = phase(found, "backward");
  EXPECT_NEAR(backward.ratio.center, 1.25, 0.002);
  EXPECT_FALSE(backward.ratio.interval->holds(1));
  EXPECT_NEAR(backward.least, 1.2, 0.002);
  EXPECT_NEAR(backward.most, 1.3, 0.002);
  EXPECT_NEAR(backward.on / backward.off, 1.25, 0.002);
  EXPECT_NEAR(phase(found, "forward").ratio.center, 1, 0.002);
  EXPECT_TRUE(phase(found, "forward").ratio.interval->holds(1));
  EXPECT_NEAR(found.compute.ratio.center, 7.0 / 6, 0.002);
  EXPECT_NEAR(found.step.ratio.center, 8.0 / 6, 0.002);
}

TEST(Contention, WaitingIsNoCompute) {
  const ContentionPlan plan;
  const Contention found = contention_of({times_of(0, plan, 1)}, plan);
  EXPECT_EQ(phase(found, "exposed_comm").ratio.center, 0);
  EXPECT_NEAR(found.compute.ratio.center, 1, 0.002);
  EXPECT_GT(found.step.ratio.center, 1.1);
  EXPECT_THAT(to_text(found), HasSubstr("No phase's time is resolved to differ."));
}

TEST(Contention, PhasesOfNoTime_HaveNoRow) {
  const ContentionPlan plan;
  const Contention found = contention_of({times_of(0, plan, 1)}, plan);
  EXPECT_EQ(found.phases.size(), 3U);
}

TEST(Contention, IsToldInASentence) {
  const ContentionPlan plan;
  const std::string text = to_text(contention_of({times_of(0, plan, 1.25)}, plan));
  EXPECT_THAT(text, HasSubstr("While gradients are communicated, backward takes 25.0 % longer ["));
  EXPECT_THAT(text, HasSubstr("; not resolved: forward.\n"));
  EXPECT_THAT(text, Not(HasSubstr("exposed_comm takes")));
}

TEST(Contention, OfFewPairs_HasNoInterval) {
  const ContentionPlan plan{.pairs = 4, .samples = 1};
  const Contention found = contention_of({times_of(0, plan, 1.25)}, plan);
  EXPECT_FALSE(found.compute.ratio.interval.has_value());
  EXPECT_THAT(to_text(found), HasSubstr("Too few pairs for an interval: take 20 or more.\n"));
}

TEST(Contention, IsWrittenForPrograms) {
  const ContentionPlan plan;
  const auto json = nlohmann::json::parse(
      to_json(contention_of({times_of(0, plan, 1.25)}, plan), {{"model", "mlp-tiny"}}));
  EXPECT_EQ(json.at("subject").at("model"), "mlp-tiny");
  EXPECT_EQ(json.at("pairs"), 30);
  EXPECT_EQ(json.at("phases").at(1).at("phase"), "backward");
  EXPECT_NEAR(json.at("phases").at(1).at("ratio"), 1.25, 0.002);
  EXPECT_FALSE(json.at("phases").at(2).contains("ratio"));  // waiting
}

}  // namespace
}  // namespace tandem::bench
