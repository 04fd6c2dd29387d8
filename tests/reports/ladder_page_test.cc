// SPDX-License-Identifier: Apache-2.0
//
// The page's ladder, read back from the page of a run that was made, against what `tandem explain`
// wrote of the same run and against the steps themselves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <vector>

#include "reports/answer/report.h"
#include "reports/model/ladder.h"
#include "reports/render/formats.h"
#include "tests/reports/committed.h"

namespace tandem::reports {
namespace {

using Rows = std::vector<std::vector<std::string>>;

Report explained_report() { return committed_report(kExplainedSample); }

// As the run was asked.
GapQuestion question() {
  GapQuestion question;
  question.model = "mlp-tiny";
  question.batch = 64;
  return question;
}

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at)) {
    text.replace(at, from.size(), to);
    at += to.size();
  }
}

// What stands between `before` and the next `after`, from `at` on, which moves behind it.
std::string next_between(const std::string& text, const std::string& before,
                         const std::string& after, std::size_t& at) {
  const std::size_t begin = text.find(before, at);
  if (begin == std::string::npos) return "";
  const std::size_t end = text.find(after, begin);
  at = end;
  return text.substr(begin + before.size(), end - begin - before.size());
}

std::string unescaped(std::string text) {
  const std::vector<std::pair<std::string, std::string>> entities{
      {"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}, {"&#39;", "'"}, {"&amp;", "&"}};
  for (const auto& [entity, character] : entities) replace_all(text, entity, character);
  return text;
}

// The rows of the table below the page's heading of that title, within the ladder's block.
Rows page_rows(const std::string& title) {
  const std::string page = to_html(explained_report());
  std::size_t at = page.find("<div id=\"ladder\"");
  at = page.find("<h5>" + title, at);
  std::string body = next_between(page, "<tbody>", "</tbody>", at);
  Rows rows;
  std::size_t place = 0;
  for (std::string row = next_between(body, "<tr", "</tr>", place); !row.empty();
       row = next_between(body, "<tr", "</tr>", place)) {
    rows.emplace_back();
    std::size_t in_row = 0;
    while (row.find("<td", in_row) != std::string::npos) {
      in_row = row.find('>', row.find("<td", in_row));
      rows.back().push_back(unescaped(next_between(row, ">", "</td>", in_row)));
    }
  }
  return rows;
}

// The rows of the table below that title in what `tandem explain` wrote.
Rows explain_rows(const std::string& title) {
  const std::string text = text_of(kExplainedSample, "explain.md");
  std::size_t at = text.find("\n| ---", text.find("## " + title));
  at = text.find('\n', at + 1) + 1;
  Rows rows;
  for (; at < text.size() && text[at] == '|'; at = text.find('\n', at) + 1) {
    const std::string line = text.substr(at, text.find('\n', at) - at);
    rows.emplace_back();
    for (std::size_t cell = 1; cell < line.size();) {
      const std::size_t end = line.find(" |", cell);
      std::string field = line.substr(cell + 1, end > cell ? end - cell - 1 : 0);
      replace_all(field, "\\", "");
      rows.back().push_back(field);
      cell = end + 2;
    }
  }
  return rows;
}

// Mean over launches of their means, in milliseconds, of the document's own samples.
double mean_step_ms(const results::Cell& cell, const results::Document& document) {
  double sum = 0;
  int launches = 0;
  for (const results::LaunchRecord& record : document.launches) {
    if (record.cell.name() != cell.name() || record.step_seconds.empty()) continue;
    double steps = 0;
    for (const double seconds : record.step_seconds) steps += seconds;
    sum += steps / static_cast<double>(record.step_seconds.size());
    ++launches;
  }
  return launches == 0 ? NAN : 1e3 * sum / launches;
}

TEST(LadderOnThePage, HasARowPerRung_AndTheSum) {
  ASSERT_EQ(explained_report().explanations.size(), 1U);
  EXPECT_EQ(page_rows("The ladder").size(), kLadder.size() + 1);
}

TEST(LadderOnThePage, EachRung_TakesTheMeanOfItsSamples_AndSavesTheDifference) {
  const Rows rows = page_rows("The ladder");
  const std::vector<RungCell> cells = ladder_cells(question());
  const Report report = explained_report();
  ASSERT_GT(rows.size(), kLadder.size());
  for (std::size_t i = 0; i < kLadder.size(); ++i) {
    const double takes = mean_step_ms(cells[i].cell, report.document);
    EXPECT_NEAR(std::stod(rows[i].at(1)), takes, 0.0006) << cells[i].cell.name();
    if (i == 0) continue;
    const double saves = mean_step_ms(cells[i - 1].cell, report.document) - takes;
    EXPECT_NEAR(std::stod(rows[i].at(2)), saves, 0.0006) << cells[i].cell.name();
  }
  const double gap = mean_step_ms(cells[0].cell, report.document) -
                     mean_step_ms(cells[kLadder.size() - 1].cell, report.document);
  EXPECT_NEAR(std::stod(rows.back().at(2)), gap, 0.0006);
}

class ExplainedTable : public testing::TestWithParam<const char*> {};

TEST_P(ExplainedTable, OnThePage_HasExplainsFigures) {
  const Rows rows = page_rows(GetParam());
  ASSERT_FALSE(rows.empty());
  EXPECT_EQ(rows, explain_rows(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(LadderOnThePage, ExplainedTable,
                         testing::Values("The ladder", "Replication, reduction",
                                         "What a cause is worth", "What ddp itself costs",
                                         "The rungs as measured"),
                         [](const auto& param) { return "Table" + std::to_string(param.index); });

TEST(LadderInTheMarkdown, StandsOpen_AndWhatIsBehindItFolded) {
  const std::string text = to_markdown(explained_report());
  const std::size_t ladder = text.find("**The ladder from dp to ddp");
  const std::size_t fold = text.find("<details><summary>What stands behind the ladder", ladder);
  ASSERT_NE(ladder, std::string::npos);
  ASSERT_NE(fold, std::string::npos);
  EXPECT_EQ(text.substr(ladder, fold - ladder).find("<details>"), std::string::npos);
  EXPECT_GT(text.find("**What a cause is worth"), fold);
}

}  // namespace
}  // namespace tandem::reports
