// SPDX-License-Identifier: Apache-2.0
#include "reports/text/format.h"

#include <gtest/gtest.h>

#include "reports/model/subject.h"

namespace tandem::reports {
namespace {

using stats::Interval;

TEST(Format, Durations_ShareTheCentresUnit) {
  EXPECT_EQ(duration_text({.center = 0.0123, .interval = Interval{0.0009, 0.02}, .launches = 2}),
            "12.30 ms [0.9000 .. 20.00]");
  EXPECT_EQ(duration_text({.center = 2.5, .interval = std::nullopt, .launches = 1}), "2.500 s");
}

TEST(Format, Rates_AreGroupedByThousands) {
  EXPECT_EQ(rate_text({.center = 1234567.4, .interval = std::nullopt, .launches = 1}), "1,234,567");
  EXPECT_EQ(rate_text({.center = 123.45, .interval = Interval{100, 1000}, .launches = 3}),
            "123.5 [100.0 .. 1,000]");
}

TEST(Format, Ratios_ShowOnWhichSideOfOneTheyEnd) {
  EXPECT_EQ(ratio_text({.center = 1.02, .interval = Interval{1.002, 1.04}, .launches = 6}),
            "1.020x [1.002 .. 1.040]");
  EXPECT_EQ(ratio_text({.center = 1.02, .interval = Interval{0.96, 1.08}, .launches = 6}),
            "1.02x [0.96 .. 1.08]");
}

TEST(Format, RatiosBeyondAThousand_AreCutOff) {
  EXPECT_EQ(ratio_text({.center = 1234, .interval = Interval{0.0001, 1e9}, .launches = 2}),
            ">1000x [<0.001 .. >1000]");
  EXPECT_EQ(ratio_text({.center = 0.004, .interval = std::nullopt, .launches = 1}), "0.004x");
}

TEST(Format, RateOfLaunchesThatScatterTooMuch_IsUnbounded) {
  EXPECT_EQ(rate_text({.center = 12, .interval = std::nullopt, .launches = 2}),
            "12.00 [interval unbounded]");
  EXPECT_EQ(rate_text({.center = 12, .interval = std::nullopt, .launches = 1}), "12.00");
}

TEST(Format, Labels_NameLaunchAndOptionsWhereTheyDiffer) {
  results::Cell cell;
  cell.strategy = "ddp";
  cell.launch = "processes";
  EXPECT_EQ(strategy_label(cell), "ddp");
  cell.launch = "threads";
  cell.options = {{"grads", "views"}};
  EXPECT_EQ(strategy_label(cell), "ddp, threads, grads=views");
  cell.strategy = "independent";
  cell.options.clear();
  EXPECT_EQ(strategy_label(cell), "no communication (bound), threads");
}

}  // namespace
}  // namespace tandem::reports
