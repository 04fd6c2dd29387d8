// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reports/model/notes.h"
#include "reports/render/csv.h"
#include "tests/reports/csv_rows.h"
#include "tests/reports/synthetic.h"

namespace tandem::reports {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> marks(const results::Document& document) {
  return marks_of(summarize(document).cells.front());
}

TEST(Unsteady, SteadyLaunches_HaveNoMark) {
  Synthetic synthetic;
  synthetic.add("ddp", 2, {0.0100, 0.0103, 0.0101, 0.0099, 0.0102, 0.0100});
  EXPECT_THAT(marks(synthetic.document()), IsEmpty());
  EXPECT_THAT(notes(synthetic.document(), summarize(synthetic.document())),
              testing::Each(testing::StartsWith("no baseline")));
}

TEST(Unsteady, ADrift_IsInTheOrderOfTheDocument) {
  Synthetic synthetic;
  synthetic.add("ddp", 2, {0.0100, 0.0102, 0.0104, 0.0106, 0.0108, 0.0110});
  EXPECT_THAT(marks(synthetic.document()),
              ElementsAre("drifts: +10.0 % from first to last launch"));
  EXPECT_THAT(notes(synthetic.document(), summarize(synthetic.document())),
              testing::Contains(HasSubstr("drift in 1 cell: launches became slower")));
}

TEST(Unsteady, AllStandsInTheCsv) {
  Synthetic synthetic;
  synthetic.add("ddp", 2, {0.0100, 0.0102, 0.0104, 0.0106, 0.0108, 0.0110});
  const CsvRow row = csv_rows(to_csv(summarize(synthetic.document()))).at(0);
  EXPECT_THAT(row.at("drift"), testing::StartsWith("0.0999"));
}

}  // namespace
}  // namespace tandem::reports
