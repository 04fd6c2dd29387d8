// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "reports/model/explanation.h"

namespace tandem::reports {
namespace {

Figure figure(double center, double low, double high) {
  return {
      .seconds =
          stats::Estimate{.center = center, .interval = stats::Interval{low, high}, .launches = 3},
      .missing = {}};
}

TEST(FigureText, IsInMilliseconds_AndSaysWhatIsNotResolved) {
  EXPECT_EQ(judged(figure(0.0012, 0.001, 0.0014)), "1.200 [1.000 .. 1.400]");
  EXPECT_EQ(judged(figure(0.0012, -0.001, 0.0034)), "1.200 [-1.000 .. 3.400], not resolved");
  const Figure one{.seconds = stats::Estimate{.center = 0.5, .interval = {}, .launches = 1},
                   .missing = {}};
  EXPECT_EQ(judged(one), "500.000, not resolved");
}

TEST(FigureText, WithoutAFigure_SaysWhatIsMissing) {
  EXPECT_EQ(judged({.seconds = {}, .missing = "dp failed"}), "no figure, dp failed");
  EXPECT_EQ(bar({.seconds = {}, .missing = "dp failed"}, 1), "");
}

TEST(FigureText, Bars_TellSavingFromCostingFromNeither) {
  EXPECT_EQ(bar(figure(0.5, 0.4, 0.6), 1), "########");
  EXPECT_EQ(bar(figure(-0.25, -0.3, -0.2), 1), "----");
  EXPECT_EQ(bar(figure(0.5, -0.4, 1.4), 1), "~~~~~~~~");
  EXPECT_EQ(bar(figure(1e-9, 1e-9, 1e-9), 1), "#");
  EXPECT_EQ(bar(figure(0, 0, 0), 0), "");
}

}  // namespace
}  // namespace tandem::reports
