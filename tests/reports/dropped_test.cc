// SPDX-License-Identifier: Apache-2.0
//
// What a sweep left out, in every form of a report.
#include <gmock/gmock.h>

#include "reports/answer/report.h"
#include "reports/render/csv.h"
#include "reports/render/formats.h"
#include "reports/tables/trust.h"
#include "reports/text/table.h"
#include "tests/reports/synthetic.h"
#include "tests/reports/whole_text.h"

namespace tandem::reports {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Report report_of(Synthetic synthetic) { return make_report(synthetic.document()); }

Report with_dropped() {
  Synthetic synthetic;
  synthetic.add("dp", 2, {0.06, 0.061});
  synthetic.document().sweep.dropped = {
      {.reason = "single is one device, <always>",
       .cells = {"single/threads/a/b.json/devices:4/batch:8/dispatch-cost:8us/input:device"}}};
  return report_of(synthetic);
}

TEST(Dropped, Cells_StandInEveryForm_WithTheReason) {
  EXPECT_THAT(to_html(with_dropped()), HasSubstr("single is one device, &lt;always&gt;"));
  EXPECT_THAT(to_markdown(with_dropped()), HasSubstr("single is one device, "));
  EXPECT_THAT(whole_text(with_dropped()),
              HasSubstr("not measured: 1 cell: single is one device, <always>\n"));
}

// On two devices more than twice as fast, by more than launches scatter.
Report above_one() {
  Synthetic synthetic;
  synthetic.add("single", 1, {0.08, 0.0801, 0.0802}).add("ddp", 2, {0.02, 0.0201, 0.0202});
  return report_of(synthetic);
}

TEST(Flags, EfficiencyAbove100_StandsInEveryForm) {
  const Report report = above_one();
  const std::string mark = "efficiency above 100 %";
  EXPECT_THAT(to_markdown(report), HasSubstr(mark));
  EXPECT_THAT(to_html(report), HasSubstr(mark));
  EXPECT_THAT(whole_text(report), HasSubstr(mark));
  EXPECT_THAT(to_csv(report.summary), HasSubstr(mark));
  EXPECT_THAT(page_data(report), HasSubstr("\"flag\":[null,\"" + mark));
}

Report without_single() {
  Synthetic synthetic;
  synthetic.add("dp", 2, {0.06, 0.061});
  return report_of(synthetic);
}

TEST(Flags, AMissingBaseline_StandsInEveryForm) {
  const Report report = without_single();
  EXPECT_THAT(to_markdown(report), HasSubstr("| no baseline |"));
  EXPECT_THAT(whole_text(report), HasSubstr("no baseline"));
  EXPECT_THAT(to_csv(report.summary), HasSubstr(",none,,,,"));
  const std::string html = to_html(report);
  EXPECT_THAT(html, HasSubstr("No baseline: single was not measured here"));
  for (const std::string& text : {to_markdown(report), whole_text(report), html}) {
    EXPECT_THAT(text, HasSubstr("no speed-up and no efficiency there"));
  }
  EXPECT_THAT(to_markdown(above_one()), Not(HasSubstr("no baseline")));
}

Report modelled_beside_measured() {
  Synthetic synthetic;
  synthetic.add("dp", 2, {0.06, 0.061}).add("ddp", 2, {0.05, 0.051});
  const std::size_t measured = synthetic.document().launches.size();
  synthetic.add("dp", 2, {0.16, 0.161}).add("ddp", 2, {0.15, 0.151});
  auto& launches = synthetic.document().launches;
  for (std::size_t i = measured; i < launches.size(); ++i) {
    launches[i].cell.options["dispatch-cost"] = "8us";
  }
  return report_of(synthetic);
}

TEST(Flags, AModelledStepBesideAMeasuredOne_StandsInEveryForm) {
  const Report report = modelled_beside_measured();
  const std::string mark = "modelled: dispatch cost 8us";
  EXPECT_THAT(to_markdown(report), HasSubstr("(" + mark + ") |"));
  EXPECT_THAT(to_html(report), HasSubstr("(" + mark + ")</td>"));
  EXPECT_THAT(whole_text(report), HasSubstr(mark));
  EXPECT_THAT(to_csv(report.summary), HasSubstr("," + mark + ","));
  const std::string data = page_data(report);
  EXPECT_THAT(data, HasSubstr("dispatch-cost=8us), " + mark + "\""));  // of the comparison
}

}  // namespace
}  // namespace tandem::reports
