// SPDX-License-Identifier: Apache-2.0
#include "reports/answer/side_by_side.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "reports/answer/report.h"
#include "reports/model/document_change.h"
#include "reports/render/change.h"
#include "reports/render/formats.h"
#include "reports/render/page_data.h"
#include "reports/text/table.h"
#include "tests/reports/page_cells.h"
#include "tests/reports/synthetic.h"

namespace tandem::reports {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// Six launches around so many seconds, told apart from those of other runs in their last digits.
std::vector<double> times(double seconds, double mark) {
  std::vector<double> list;
  for (const double factor : {1.0, 1.01, 0.99, 1.0, 1.02, 0.995}) {
    list.push_back(seconds * factor * (1 + 1e-6 * mark));
  }
  return list;
}

results::Document run(double dp, double ddp, double mark) {
  return Synthetic().add("dp", 2, times(dp, mark)).add("ddp", 2, times(ddp, mark)).document();
}

SideBySide three() {
  std::vector<NamedDocument> documents;
  documents.push_back({.name = "first", .document = run(0.02, 0.01, 1)});
  documents.push_back({.name = "second", .document = run(0.04, 0.01, 2)});
  documents.push_back(
      {.name = "third", .document = Synthetic().add("dp", 2, times(0.01, 3)).document()});
  return side_by_side(std::move(documents), {.threshold = 0.03});
}

TEST(SideBySide, EachIsJudgedAgainstTheFirst_AsCompareDoes) {
  const SideBySide side = three();
  const Report& first = side.reports[0];
  const Report& second = side.reports[1];
  const DocumentChange alone =
      compare_documents(first.document, first.summary, second.document, second.summary, {});
  ASSERT_EQ(side.changes.size(), 2U);
  EXPECT_EQ(to_json(side.changes[0]), to_json(alone));
  EXPECT_THAT(side_lines(side),
              ElementsAre("B against A: 2 cells: 1 SLOWER, 0 FASTER, 1 SAME, 0 UNSURE.",
                          "C against A: 1 cell: 0 SLOWER, 1 FASTER, 0 SAME, 0 UNSURE."));
}

TEST(SideBySide, ARowPerCommonCell_WithEachOnesFigure) {
  const SideBySide side = three();
  const TextTable table = side_table(side);
  ASSERT_EQ(table.rows.size(), 2U);
  const std::vector<std::string>& dp = table.rows[0];
  EXPECT_EQ(dp[3], "dp");
  EXPECT_EQ(dp[4], "6, 6, 6");
  EXPECT_THAT(dp[5], HasSubstr("20.0"));
  EXPECT_EQ(dp[7], change_ratio_text(side.changes[0].cells[0].time_ratio));
  EXPECT_EQ(dp[8], "SLOWER");
  EXPECT_EQ(dp[11], "FASTER");
  EXPECT_EQ(dp[12], "by more than 3 %");
  EXPECT_EQ(table.rows[1][4], "6, 6, 0");
  EXPECT_EQ(table.rows[1][11], "-");
}

TEST(SideBySide, RemarksOfOnePairAlone_NameTheirDocument) {
  std::vector<NamedDocument> documents;
  documents.push_back({.name = "a", .document = run(0.02, 0.01, 1)});
  documents.push_back({.name = "b", .document = run(0.04, 0.01, 2)});
  documents.push_back({.name = "c", .document = run(0.02, 0.01, 3)});
  const TextTable table = side_table(side_by_side(std::move(documents), {.threshold = 0.03}));
  EXPECT_EQ(table.rows[0].back(), "B: by more than 3 %");
}

TEST(SideBySide, FactsThatDiffer_ComeFirst) {
  results::Document other = run(0.02, 0.01, 2);
  for (results::LaunchRecord& launch : other.launches) launch.machine.cpu_model = "Other CPU";
  std::vector<NamedDocument> documents;
  documents.push_back({.name = "a", .document = run(0.02, 0.01, 1)});
  documents.push_back({.name = "b", .document = std::move(other)});
  const SideBySide side = side_by_side(std::move(documents), {.threshold = 0.03});
  const TextTable table = facts_table(side);
  EXPECT_THAT(table.rows.front(), ElementsAre("CPU", "Test CPU", "Other CPU", "differs"));
  EXPECT_EQ(table.rows[1].back(), "");
  EXPECT_THAT(side_notes(side),
              Contains("B against A: machines differ: CPU Test CPU against Other CPU"));
}

TEST(SideBySide, NotesOfTheThird_CallItC) {
  EXPECT_THAT(side_notes(three()), Contains(HasSubstr("C against A: only A measured 1 cell")));
}

TEST(SidePage, TellsCellsOfDocumentsApart) {
  const SideBySide side = three();
  const auto data = nlohmann::json::parse(page_data(
      {{.report = &side.reports[0], .letter = "A"}, {.report = &side.reports[1], .letter = "B"}}));
  ASSERT_EQ(cells_of(data["cells"]).size(), 4U);
  EXPECT_EQ(data["texts"][data["cells"]["document"][0].get<std::size_t>()], "A");
  EXPECT_EQ(data["texts"][data["cells"]["document"][3].get<std::size_t>()], "B");
  EXPECT_THAT(data["pairs"][1]["label"].get<std::string>(), testing::StartsWith("B: mlp-small"));
}

TEST(SidePage, OfOneDocument_HasNoLetters) {
  const Report report = make_report(run(0.02, 0.01, 1));
  EXPECT_FALSE(nlohmann::json::parse(page_data(report))["cells"].contains("document"));
  EXPECT_THAT(to_html(report), Not(HasSubstr("<section id=\"side\"")));
}

TEST(SidePage, HostileNames_AreText) {
  std::vector<NamedDocument> documents;
  documents.push_back({.name = "<script>x</script>", .document = run(0.02, 0.01, 1)});
  documents.push_back({.name = "|b\nc", .document = run(0.02, 0.01, 2)});
  const SideBySide side = side_by_side(std::move(documents), {.threshold = 0.03});
  EXPECT_THAT(to_html(side), Not(HasSubstr("<script>x")));
  EXPECT_THAT(to_html(side), HasSubstr("&lt;script&gt;x"));
  EXPECT_THAT(to_markdown(side), HasSubstr("\\<script\\>x"));
  EXPECT_THAT(to_markdown(side), HasSubstr("\\|b c"));
}

}  // namespace
}  // namespace tandem::reports
