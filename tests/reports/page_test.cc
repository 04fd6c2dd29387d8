// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "common/base/phases.h"
#include "reports/answer/report.h"
#include "reports/render/formats.h"
#include "reports/text/table.h"
#include "tests/reports/cost_samples.h"
#include "tests/reports/page_cells.h"
#include "tests/reports/synthetic.h"

namespace tandem::reports {
namespace {

using testing::HasSubstr;
using testing::Not;

Synthetic three_strategies() {
  Synthetic synthetic;
  synthetic.add("single", 1, {0.08, 0.081}).add("dp", 2, {0.06, 0.061});
  return synthetic.add("ddp", 2, {0.05, 0.051});
}

nlohmann::json data_of(Synthetic synthetic) {
  return nlohmann::json::parse(page_data(make_report(synthetic.document())));
}

TEST(PageData, HoldsEachCellsFigures) {
  const nlohmann::json data = data_of(three_strategies());
  const std::vector<nlohmann::json> cells = cells_of(data["cells"]);
  ASSERT_EQ(cells.size(), 3U);
  nlohmann::json ddp = cells[2];
  EXPECT_EQ(data["texts"][ddp["label"].get<std::size_t>()], "ddp");
  EXPECT_EQ(ddp["devices"], 2);
  EXPECT_EQ(ddp["launches"], 2);
  EXPECT_NEAR(ddp["throughput"][0].get<double>(), 64 / 0.0505, 0.01);
  EXPECT_NEAR(ddp["speedup"][0].get<double>(), 1.594, 1e-3);
  EXPECT_NEAR(ddp["efficiency"][0].get<double>(), 0.797, 1e-3);
  EXPECT_NEAR(ddp["ideal"].get<double>(), 2 * 64 / 0.0805, 0.01);
  EXPECT_FALSE(ddp.contains("weakEfficiency"));  // single was not measured at batch 32
}

TEST(Page, HasThePhasesColours) {
  const std::string page = to_html(make_report(three_strategies().document()));
  for (const PhaseTraits& phase : kPhases) {
    EXPECT_THAT(page, HasSubstr(fmt::format("{}: \"{}\"", phase.name, phase.colour)));
  }
}

TEST(PageData, OfManyComparisons_HasThoseOnTheMostDevices) {
  Synthetic synthetic = three_strategies();
  synthetic.add("dp", 1, {0.06, 0.061}).add("ddp", 1, {0.05, 0.051});
  const auto data = nlohmann::json::parse(page_data(make_report(synthetic.document()), 1));
  ASSERT_EQ(data["pairs"].size(), 1U);
  EXPECT_THAT(data["pairs"][0]["label"].get<std::string>(), testing::EndsWith("2 devices"));
}

std::string page_of(Synthetic synthetic) {
  std::string html = to_html(make_report(synthetic.document()));
  html.erase(html.find(chart_js()), chart_js().size());
  return html;
}

TEST(Page, SectionsStandInTheirOrder) {
  const std::string html = page_of(with_collectives());
  std::size_t last = html.find("<header>");
  for (const char* id : {"advice", "scaling", "gap", "comparisons", "details", "trust"}) {
    const std::size_t place = html.find("<section id=\"" + std::string(id) + "\"");
    ASSERT_NE(place, std::string::npos) << id;
    EXPECT_GT(place, last) << id;
    last = place;
  }
}

TEST(Page, Links_LeadToPlacesThatAreThere) {
  for (const std::string& html : {page_of(three_strategies()), page_of(with_collectives())}) {
    for (std::size_t at = html.find("href=\"#"); at != std::string::npos;
         at = html.find("href=\"#", at + 1)) {
      const std::size_t begin = at + 7;
      const std::string id = html.substr(begin, html.find('"', begin) - begin);
      EXPECT_THAT(html, HasSubstr("id=\"" + id + "\""));
    }
  }
}

TEST(Page, LongTables_AreCut_AndSaySo) {
  TextTable table({"a", "b"});
  table.rows.assign(kMostPageRows, {"x", "y"});
  const auto drawn = [&] {
    Section root(std::string("T"));
    return to_html(root.add(Table{.table = table, .caption = "T"}), {});
  };
  EXPECT_THAT(drawn(), Not(HasSubstr("rows; the Markdown")));
  table.rows.push_back({"last", "y"});
  EXPECT_THAT(drawn(), HasSubstr("The first 300 of 301 rows"));
  EXPECT_THAT(drawn(), Not(HasSubstr(">last<")));
}

TEST(Page, LongText_IsCut_WholeEntities) {
  const std::string html = escape_html(std::string(1'000'000, '<'));
  EXPECT_LT(html.size(), 20'000U);
  EXPECT_TRUE(html.ends_with("&lt; ... (1000000 bytes)"));
}

}  // namespace
}  // namespace tandem::reports
