// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reports/answer/report.h"
#include "reports/answer/verdict.h"
#include "reports/render/formats.h"
#include "reports/tables/trust.h"
#include "reports/text/table.h"
#include "tests/reports/cost_samples.h"
#include "tests/reports/synthetic.h"

namespace tandem::reports {
namespace {

using testing::HasSubstr;
using testing::Not;

// With something for every section: two bucket sizes, memory, phases, weak scaling, a cell without
// a figure.
Synthetic rich() {
  Synthetic synthetic;
  synthetic.add("single", 1, {0.08, 0.081}).add("single", 1, {0.045, 0.046}, 32);
  synthetic.add("dp", 2, {0.06, 0.061}).add("ddp", 2, {0.055, 0.056}).add("ddp", 2, {0.05, 0.051});
  for (auto& record : synthetic.document().launches) {
    const bool is_small = record.cell.strategy == "ddp" && record.step_seconds[0] < 0.052;
    if (is_small) record.cell.options = {{"bucket-mb", "5"}};
    if (record.cell.devices == 1) continue;
    const std::int64_t root = record.cell.strategy == "dp" ? 3 << 20 : 1 << 20;
    record.memory = {{.device = 0, .capacity_bytes = 0, .peak_bytes = root},
                     {.device = 1, .capacity_bytes = 0, .peak_bytes = 1 << 20}};
    record.critical = device(0, {{"forward", 20}, {"reduce", 25}});
    record.phases = {record.critical};
  }
  return synthetic.add_without_time("dp", 4, results::Status::kSkipped, "out of memory");
}

std::string markdown_of(Synthetic synthetic) {
  return to_markdown(make_report(synthetic.document()));
}

TEST(Markdown, SaysWhatThePageSays) {
  Synthetic synthetic = rich();
  const Report report = make_report(synthetic.document());
  const std::string page = to_html(report);
  const std::string text = to_markdown(report);
  std::vector<std::string> sentences = report.verdict.breaks;
  sentences.push_back(report.verdict.tested);
  sentences.insert(sentences.end(), report.verdict.workloads.begin(),
                   report.verdict.workloads.end());
  for (const Advice& item : report.advice) sentences.push_back(item.text);
  sentences.push_back(remainder_line(report.summary));
  ASSERT_GT(sentences.size(), 7U);
  for (const std::string& sentence : sentences) {
    EXPECT_THAT(page, HasSubstr(escape_html(sentence)));
    EXPECT_THAT(text, HasSubstr(escape_markdown(sentence)));
  }
}

TEST(Markdown, LongTables_AreFolded_AndShortOnesAreNot) {
  TextTable table({"a"});
  const auto drawn = [&] {
    Section root(std::string("T"));
    return to_markdown(root.add(Table{.table = table, .caption = "T"}));
  };
  table.rows.assign(16, {"x"});
  EXPECT_THAT(drawn(), Not(HasSubstr("<details>")));
  table.rows.push_back({"last"});
  EXPECT_THAT(drawn(), HasSubstr("<details><summary>17 rows</summary>\n\n| a |"));
  EXPECT_THAT(drawn(), HasSubstr("| last |\n\n</details>\n"));
}

TEST(Markdown, NamesCannotBreakOutOfTheirLine) {
  Synthetic synthetic = rich();
  synthetic.document().sweep.commands = {{"run", "odd\n```\n# heading"}};
  EXPECT_THAT(markdown_of(synthetic), HasSubstr("\n    tandem run 'odd ``` # heading' --out"));
}

}  // namespace
}  // namespace tandem::reports
