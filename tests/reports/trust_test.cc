// SPDX-License-Identifier: Apache-2.0
#include "reports/tables/trust.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reports/answer/report.h"
#include "tests/reports/cost_samples.h"
#include "tests/reports/synthetic.h"

namespace tandem::reports {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(Reproduce, IsTheCommandThatWasGiven_Quoted) {
  results::SweepInfo sweep;
  sweep.name = "quick";
  sweep.commands = {{"run", "my sweeps/a.json", "--launches=3", "--with-torch"}};
  EXPECT_THAT(reproduce_commands(sweep),
              ElementsAre("tandem run 'my sweeps/a.json' --launches=3 --with-torch --out again",
                          "tandem compare results.json again"));
  sweep.commands = {{"explain", "--model=mlp-tiny", "--batch=64"}};
  EXPECT_EQ(reproduce_commands(sweep).front(),
            "tandem explain --model=mlp-tiny --batch=64 --out again");
}

TEST(Reproduce, OfAFolderThatWasExplained_SaysSo) {
  results::SweepInfo sweep;
  sweep.commands = {{"run", "quick"}};
  sweep.additions = {{.cells = {"a"}, .launches_per_cell = 6}};
  EXPECT_THAT(reproduce_commands(sweep), Contains(HasSubstr("what tandem explain added")));
}

}  // namespace
}  // namespace tandem::reports
