// SPDX-License-Identifier: Apache-2.0
#include "reports/text/definitions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <set>
#include <sstream>

#include "reports/answer/report.h"
#include "reports/render/formats.h"
#include "reports/text/section_words.h"
#include "tests/reports/committed.h"
#include "tests/reports/cost_samples.h"
#include "tests/reports/synthetic.h"

namespace tandem::reports {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

// Each text between two others.
std::vector<std::string> all_between(const std::string& text, const std::string& before,
                                     const std::string& after) {
  std::vector<std::string> found;
  for (std::size_t at = text.find(before); at != std::string::npos; at = text.find(before, at)) {
    at += before.size();
    found.push_back(text.substr(at, text.find(after, at) - at));
  }
  return found;
}

std::string page_of(const Report& report) {
  std::string html = to_html(report);
  html.erase(html.find(chart_js()), chart_js().size());
  return html;
}

// The anchor that GitHub makes of a heading.
std::string anchor_of(const std::string& heading) {
  std::string anchor;
  for (const char c : heading) {
    if (c == ' ') anchor += '-';
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_') {
      anchor += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return anchor;
}

std::vector<std::string> anchors_in(const std::string& text) {
  std::vector<std::string> anchors;
  std::istringstream lines(text);
  bool is_code = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("```")) is_code = !is_code;
    if (!is_code && line.starts_with("#")) {
      anchors.push_back(anchor_of(line.substr(line.find_first_not_of('#') + 1)));
    }
  }
  return anchors;
}

TEST(Definitions, NameHeadingsThatAreThere) {
  for (const FigureDefinition& definition : kDefinitions) {
    const std::string document(definition.document);
    const std::size_t mark = document.find('#');
    ASSERT_NE(mark, std::string::npos) << document;
    const std::string text = text_of(TANDEM_COMMITTED_ROOT, document.substr(0, mark));
    EXPECT_THAT(anchors_in(text), Contains(document.substr(mark + 1))) << document;
  }
}

TEST(Definitions, HaveAKeyEach_AndAreShownSomewhere) {
  std::set<std::string_view> keys;
  for (const FigureDefinition& definition : kDefinitions) {
    EXPECT_TRUE(keys.insert(definition.key).second) << definition.key;
    EXPECT_FALSE(definition.sections.empty()) << definition.key;
    EXPECT_TRUE(definition.meaning.ends_with('.')) << definition.key;
  }
}

TEST(Definitions, NameSectionsThatThereAre) {
  std::set<std::string_view> ids;
  for (const Heading& heading : {kAdvice, kScaling, kCells, kSources, kLadderOfCauses, kPhaseTimes,
                                 kCosts, kTwin, kMap, kComparisons, kMemory, kEnergy, kBucketSizes,
                                 kCollectives, kModes, kTrust, kOthers, kLinks, kSide}) {
    ids.insert(heading.id);
  }
  for (const FigureDefinition& definition : kDefinitions) {
    std::istringstream sections{std::string(definition.sections)};
    for (std::string id; sections >> id;) EXPECT_THAT(ids, Contains(id)) << definition.key;
  }
}

// Sections whose contents are no figures, or have sections of their own.
const std::set<std::string> kWithoutFigures{"gap",       "details",    "without", "dropped",
                                            "choices",   "warnings",   "machine", "method",
                                            "reproduce", "definitions"};

TEST(Definitions, EachSectionOfThePage_LeadsToThem) {
  const std::string pages = page_of(committed_report(kExplainedSample)) +
                            page_of(committed_report(kQuickSample)) +
                            page_of(make_report(with_collectives().document()));
  std::vector<std::string> ids = all_between(pages, "<section id=\"", "\"");
  for (const std::string& id : all_between(pages, "<div id=\"", "\" class=\"block\"")) {
    if (id.size() < 20) ids.push_back(id);
  }
  ASSERT_GT(ids.size(), 20U);
  for (const std::string& id : ids) {
    EXPECT_EQ(definitions_of(id).empty(), kWithoutFigures.contains(id)) << id;
  }
}

TEST(Definitions, OnThePage_StandOnce_WhereSectionsLeadToThem) {
  const std::string page = page_of(committed_report(kExplainedSample));
  EXPECT_THAT(page, HasSubstr("<a href=\"#definition-speed-up\">speed-up</a>"));
  EXPECT_EQ(all_between(page, "<dt id=\"definition-speed-up\">", "</dt>").size(), 1U);
  EXPECT_THAT(page, HasSubstr("<code>docs/method/statistics.md#speed-up</code>"));
  EXPECT_THAT(page, Not(HasSubstr("definition-twin")));  // no PyTorch here
}

TEST(Definitions, InTheMarkdown_AreFootnotes_AndNoneIsMissing) {
  Synthetic synthetic = with_collectives();
  for (const std::string& text : {to_markdown(committed_report(kExplainedSample)),
                                  to_markdown(make_report(synthetic.document()))}) {
    const std::size_t notes = text.find("\n## Definitions\n");
    ASSERT_NE(notes, std::string::npos);
    const std::vector<std::string> used = all_between(text.substr(0, notes), "[^", "]");
    ASSERT_GT(used.size(), 10U);
    for (const std::string& key : used) {
      EXPECT_THAT(text.substr(notes), HasSubstr("\n[^" + key + "]: **"));
    }
  }
}

TEST(ShownStrategy, TellsThatIndependentIsABound_AndLeavesOthers) {
  EXPECT_EQ(shown_strategy("independent"), "no communication (bound)");
  for (const options::StrategyTraits& traits : options::kStrategies) {
    if (traits.kind == options::StrategyKind::kIndependent) continue;
    EXPECT_EQ(shown_strategy(traits.name), traits.name);
  }
  EXPECT_EQ(shown_strategy("of a newer version"), "of a newer version");
}

// Commands, and names of cells, are what a reader gives to the tools.
TEST(ShownStrategy, NoReportSaysIndependent) {
  const std::string text = to_markdown(committed_report(kExplainedSample));
  EXPECT_THAT(text, HasSubstr("| no communication (bound), processes |"));
  EXPECT_THAT(text, Not(HasSubstr("| independent")));
  EXPECT_THAT(text, Not(HasSubstr("independent processes")));
}

}  // namespace
}  // namespace tandem::reports
