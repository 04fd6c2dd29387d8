// SPDX-License-Identifier: Apache-2.0
#include "simulate/catalogue/published_errors.h"

#include <gtest/gtest.h>

#include "common/base/dispatch_costs.h"

namespace tandem {
namespace {

TEST(PublishedErrors, CardsThatDifferByMemoryAloneAreAlike) {
  EXPECT_EQ(kind_of_gpu("A100 SXM4 80GB"), "A100 SXM4");
  EXPECT_EQ(kind_of_gpu("TITAN RTX"), "TITAN RTX");
  const auto errors = errors_on_systems_with("dp", "A100 SXM4 80GB");
  ASSERT_TRUE(errors);
  EXPECT_EQ(errors->steps, errors_on_systems_with("dp", "A100 SXM4 40GB")->steps);
}

TEST(PublishedErrors, ASystemThatNobodyComparedHasNone) {
  EXPECT_FALSE(errors_on_systems_with("dp", "B200 180GB"));
  EXPECT_FALSE(errors_on_systems_with("ddp", "B200 180GB"));
}

TEST(PublishedErrors, TheLargestIsNoSmallerThanTheMean) {
  for (const char* strategy : {"dp", "ddp", "listed", "listed-fp32"}) {
    const PublishedErrors errors = errors_elsewhere(strategy);
    EXPECT_GE(errors.most, errors.mean);
    EXPECT_GE(errors.steps, errors.systems);
    EXPECT_GE(errors.half_width, 0.029);  // log(1.03), the least
  }
}

TEST(PublishedErrors, InterpreterCostsAreThoseOfPretendedDevicesTimesTheFactor) {
  const InterpreterCosts like = interpreter_costs("TITAN RTX");
  const InterpreterCosts other = interpreter_costs("B200 180GB");
  EXPECT_TRUE(like.is_of_like);
  EXPECT_FALSE(other.is_of_like);
  const auto call = [](const InterpreterCosts& costs) {
    const DispatchCosts parsed = parse_dispatch_costs(costs.text, "costs");
    return static_cast<double>(parsed.of(DispatchKind::kCall).count());
  };
  EXPECT_NEAR(call(like) / like.factor, call(other) / other.factor, 10);  // ns
}

}  // namespace
}  // namespace tandem
