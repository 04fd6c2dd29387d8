// SPDX-License-Identifier: Apache-2.0
#include "reports/tables/break_even.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/reports/synthetic.h"

namespace tandem::reports {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// dp wins by half at a small batch, ddp at a large one; between them nothing is resolved.
Synthetic crossing() {
  Synthetic synthetic;
  synthetic.add("dp", 2, {0.010, 0.0101, 0.0099}, 8).add("ddp", 2, {0.015, 0.0151, 0.0149}, 8);
  synthetic.add("dp", 2, {0.010, 0.020, 0.015}, 32).add("ddp", 2, {0.011, 0.019, 0.015}, 32);
  synthetic.add("dp", 2, {0.030, 0.0301, 0.0299}, 128).add("ddp", 2, {0.02, 0.0201, 0.0199}, 128);
  return synthetic;
}

TEST(BreakEven, LiesBetweenTheResolvedPointsOnEitherSide) {
  Synthetic synthetic = crossing();
  EXPECT_THAT(break_even_lines(summarize(synthetic.document())),
              ElementsAre("mlp-small on 2 devices: the break-even lies between batch 8 (dp faster) "
                          "and 128 (ddp faster)."));
}

TEST(BreakEven, WithoutAChange_NamesTheTestedRange) {
  Synthetic synthetic;
  synthetic.add("dp", 2, {0.03, 0.0301}, 8).add("ddp", 2, {0.02, 0.0201}, 8);
  const Summary summary = summarize(synthetic.document());
  EXPECT_THAT(break_even_lines(summary),
              ElementsAre(HasSubstr("(batch 8, 1 model, on 2 devices)")));
  EXPECT_EQ(deciding_sweep(summary), "");
  synthetic.add("dp", 2, {0.06, 0.0601}, 16).add("ddp", 2, {0.04, 0.0401}, 16);
  synthetic.add("dp", 1, {0.03, 0.0301}, 8).add("ddp", 1, {0.06, 0.0601}, 8);
  EXPECT_THAT(break_even_lines(summarize(synthetic.document())),
              ElementsAre(HasSubstr("No break-even was found within the tested range (batch 8 to "
                                    "16, 1 model, on 2 devices)")));
}

TEST(BreakEven, NothingResolved_SaysSo_AndNamesASweep) {
  Synthetic synthetic;
  synthetic.add("dp", 2, {0.02, 0.03}).add("ddp", 2, {0.03, 0.02});
  const Summary summary = summarize(synthetic.document());
  EXPECT_THAT(break_even_lines(summary), ElementsAre(HasSubstr("No break-even was found")));
  EXPECT_THAT(deciding_sweep(summary), HasSubstr("The one comparison cannot be decided"));
}

TEST(BreakEven, OneDeviceAlone_TellsNothing) {
  Synthetic synthetic;
  synthetic.add("dp", 1, {0.02, 0.021}).add("ddp", 1, {0.03, 0.031});
  const Summary summary = summarize(synthetic.document());
  EXPECT_THAT(break_even_lines(summary), IsEmpty());
  EXPECT_EQ(tested_range(summary), "");
  EXPECT_THAT(deciding_sweep(summary), HasSubstr("tandem run quick"));
}

}  // namespace
}  // namespace tandem::reports
