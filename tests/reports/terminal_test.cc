// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "common/base/lines.h"
#include "reports/render/formats.h"
#include "reports/text/table.h"
#include "tests/reports/committed.h"

namespace tandem::reports {
namespace {

using testing::HasSubstr;
using testing::Not;

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::size_t widest(const std::string& text) {
  std::size_t most = 0;
  for (const std::string& line : lines_of(text)) most = std::max(most, width_of(line));
  return most;
}

TEST(Terminal, AnAnswer_FitsAScreen) {
  const std::string text = to_terminal(committed_report(kQuickSample));
  EXPECT_LE(lines_of(text).size(), 23U) << text;  // the tool adds a command and a path
  EXPECT_LE(widest(text), 100U) << text;
  EXPECT_THAT(text, HasSubstr("AMD EPYC"));
  EXPECT_THAT(text, HasSubstr("Next: "));
}

TEST(Terminal, AnAnswerLongerThanAScreen_HasShorterListsAndNoBars) {
  Section root{std::string("root")};
  std::string line;
  while (line.size() < 200) line += "word ";  // three lines of a list
  root.list(std::vector<std::string>(5, line), "verdict", kAnswer);
  root.add(Bars{.caption = "Step:", .bars = {{"dp", 2, "2 s"}, {"one", 1, "1 s"}}}, kAnswer);
  EXPECT_THAT(to_terminal(root), testing::AllOf(HasSubstr("Step:"), HasSubstr("- 2 more: --de")));
  for (int i = 0; i < 16; ++i) root.say("a sentence", "hint", kAnswer);
  const std::string text = to_terminal(root);
  EXPECT_LE(lines_of(text).size(), 24U) << text;
  EXPECT_THAT(text, testing::AllOf(Not(HasSubstr("Step:")), HasSubstr("- 3 more: --details")));
  for (const std::size_t columns : {40U, 80U, 100U}) {
    EXPECT_LE(lines_of(to_terminal(committed_report(kQuickSample), {.columns = columns})).size(),
              24U);
  }
}

TEST(Terminal, NoLineIsWiderThanAskedFor_NorEndsWithASpace) {
  const Report report = committed_report(kQuickSample);
  for (const std::size_t columns : {40U, 80U, 100U}) {
    for (const bool has_details : {false, true}) {
      const std::string text =
          to_terminal(report, {.columns = columns, .has_details = has_details});
      for (const std::string& line : lines_of(text)) {
        const std::string words = line.substr(std::min(line.find_first_not_of(" -!"), line.size()));
        const bool is_one_word = words.find(' ') == std::string::npos;
        EXPECT_TRUE(width_of(line) <= columns || is_one_word) << columns << ": " << line;
        EXPECT_THAT(line, Not(testing::EndsWith(" ")));
      }
    }
  }
}

TEST(Terminal, DetailsHaveWhatTheAnswerLeavesOut) {
  const Report report = committed_report(kQuickSample);
  EXPECT_THAT(to_terminal(report), Not(HasSubstr("Where the step goes")));
  EXPECT_THAT(to_terminal(report, {.has_details = true}), HasSubstr("Where the step goes"));
}

TEST(Terminal, BarsAreAsLongAsTheirFigures) {
  Section root{std::string("root")};
  root.add(Bars{.caption = "Step:", .bars = {{"dp", 2, "2 s"}, {"one", 1, "1 s"}}}, kAnswer);
  EXPECT_EQ(to_terminal(root, {.columns = 20}),
            "root.\n\nStep:\n"
            "dp   2 s  ##########\n"
            "one  1 s  #####\n");
}

TEST(Terminal, ATableTooWide_LosesItsIntervals_ThenItsColumns) {
  TextTable table({"workload", "->steps", ">factor"});
  table.rows.push_back({"a model", "12345", "1.20x [1.10 .. 1.30]"});
  EXPECT_THAT(to_text(table, 100), HasSubstr("12345"));
  EXPECT_EQ(to_text(table, 20), "workload  factor\n--------  ------\na model    1.20x\n");
  EXPECT_EQ(to_text(table, 15),
            "  - workload a\n    model;\n    factor\n    1.20x [1.10\n    .. 1.30]\n");
}

TEST(Terminal, EscapesOfANameDoNotReachTheTerminal) {
  EXPECT_EQ(to_lines("a\x1b[31mb", 80), "a [31mb\n");
}

}  // namespace
}  // namespace tandem::reports
