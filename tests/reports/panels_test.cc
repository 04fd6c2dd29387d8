// SPDX-License-Identifier: Apache-2.0
#include "reports/answer/panels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "reports/answer/report.h"
#include "reports/model/subject.h"
#include "reports/render/formats.h"
#include "tests/reports/page_cells.h"
#include "tests/reports/synthetic.h"
#include "tests/reports/whole_text.h"

namespace tandem::reports {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

const std::vector<double> kThree{0.02, 0.021, 0.019};

// Tandem on two devices, 32 samples on each.
results::Document measured() {
  return Synthetic()
      .add("single", 1, kThree, 32)
      .add("dp", 2, kThree)
      .add("ddp", 2, kThree)
      .document();
}

results::Document beside_torch() {
  results::Document document = measured();
  for (results::LaunchRecord record : measured().launches) {
    record.cell.options[kImplementation] = "torch-2.15.0";
    for (double& seconds : record.step_seconds) seconds *= 1.5;
    document.launches.push_back(std::move(record));
  }
  return document;
}

// The same share on 2 and 8 devices of a machine.
results::Document simulated(const std::string& hardware, const std::string& option,
                            std::int64_t share = 32) {
  results::Document document = Synthetic()
                                   .add("dp", 2, {0.03}, 2 * share)
                                   .add("ddp", 2, {0.01}, 2 * share)
                                   .add("ddp", 8, {0.01}, 8 * share)
                                   .document();
  for (results::LaunchRecord& record : document.launches) {
    record.cell.backend = results::kSimulated;
    record.cell.options[option] = hardware + "#0123";
    record.modelled = {"hardware " + hardware + ": all times are simulated"};
  }
  document.sweep.context.custom = {{kStanding, "Projected, not measured. It errs by 6 %"},
                                   {kHalfWidths, "dp:0.1:2,ddp:0.1:2"}};
  return document;
}

ProjectedDocument named(std::string name, results::Document document) {
  ProjectedDocument projected{
      .name = std::move(name), .document = std::move(document), .summary = {}};
  projected.summary = summarize(projected.document);
  return projected;
}

Report three_sources() {
  std::vector<ProjectedDocument> projected;
  projected.push_back(
      named("run/projected", simulated("calibrated Test CPU, a core", "calibration")));
  return make_report(beside_torch(), std::move(projected));
}

std::vector<std::string> titles_of(const Report& report) {
  std::vector<std::string> titles;
  for (const Panel& panel : panels_of(report)) titles.push_back(panel.title);
  return titles;
}

TEST(Panels, OneSourceHasNone) {
  const Report report = make_report(measured());
  EXPECT_THAT(panels_of(report), IsEmpty());
  EXPECT_FALSE(nlohmann::json::parse(page_data(report)).contains("panels"));
  EXPECT_THAT(to_html(report), Not(HasSubstr("scaling-chart-2")));
  EXPECT_THAT(to_markdown(report), Not(HasSubstr("a panel for each source")));
}

TEST(Panels, EachSourceHasItsOwn) {
  const Report report = three_sources();
  EXPECT_THAT(titles_of(report),
              ElementsAre("Tandem, measured", "PyTorch 2.15.0, measured",
                          "Tandem, projected onto the measured machine (Test CPU, a core)"));
  const std::string html = to_html(report);
  EXPECT_THAT(html, HasSubstr("<canvas id=\"scaling-chart-3\""));
  EXPECT_THAT(html, HasSubstr("Projected, not measured. It errs by 6 %. Bands are of the method"));
}

TEST(Panels, NothingProjectedPassesForMeasured) {
  const Report report = three_sources();
  const auto data = nlohmann::json::parse(page_data(report));
  const auto is_projected = [&](const nlohmann::json& cell) {
    return data["panels"].at(cell["panel"].get<std::size_t>()).value("projected", false);
  };
  for (const auto& cell : cells_of(data["cells"])) EXPECT_FALSE(is_projected(cell)) << cell;
  ASSERT_EQ(cells_of(data["projected"]).size(), 3U);
  for (const auto& cell : cells_of(data["projected"])) {
    EXPECT_TRUE(is_projected(cell)) << cell;
    EXPECT_EQ(cell["modelled"], true) << "drawn as a measured one: " << cell;
  }
  EXPECT_EQ(data["panels"][2]["title"].get<std::string>().find("Tandem, projected"), 0U);
  for (const Panel& panel : panels_of(report)) {
    for (const PanelCell& one : panel.cells) {
      EXPECT_EQ(one.cell->cell.is_simulated(), panel.projected != nullptr) << panel.title;
      EXPECT_FALSE(one.question->cell.is_simulated());
    }
  }
}

TEST(Panels, ProjectedCellsHaveTheConditionsOfTheirQuestion) {
  const auto data = nlohmann::json::parse(page_data(three_sources()));
  EXPECT_EQ(data["projected"]["conditions"][0], data["cells"]["conditions"][0]);
  EXPECT_EQ(data["texts"][data["projected"]["bare"][0].get<std::size_t>()], "dp");
}

TEST(Panels, AnotherMachineIsSaidInTheTitle) {
  std::vector<ProjectedDocument> projected;
  projected.push_back(named("a", simulated("dgx-a100", "hardware")));
  projected.push_back(named("b", simulated("calibrated Other CPU, a core", "calibration")));
  const Report report = make_report(measured(), std::move(projected));
  EXPECT_THAT(
      titles_of(report),
      ElementsAre("Tandem, measured", "Tandem, projected onto dgx-a100: not the measured machine",
                  "Tandem, projected onto Other CPU, a core: not the measured machine"));
}

TEST(Panels, TwoProjectionsOntoOneMachineAreToldApartByTheirFolders) {
  std::vector<ProjectedDocument> projected;
  projected.push_back(named("a", simulated("dgx-a100", "hardware")));
  projected.push_back(named("b", simulated("dgx-a100", "hardware")));
  EXPECT_THAT(titles_of(make_report(measured(), std::move(projected))).back(), EndsWith(" (b)"));
}

TEST(Panels, AnotherQuestionStaysApart) {
  std::vector<ProjectedDocument> projected;
  projected.push_back(named("16 samples", simulated("dgx-a100", "hardware", 16)));
  results::Document seeded = simulated("dgx-a100", "hardware");
  for (results::LaunchRecord& record : seeded.launches) record.cell.options["seed"] = "7";
  projected.push_back(named("another seed", std::move(seeded)));
  const Report report = make_report(measured(), std::move(projected));
  EXPECT_THAT(projections_apart(report), ElementsAre("16 samples", "another seed"));
  EXPECT_THAT(panels_of(report), IsEmpty());
  EXPECT_THAT(projections_apart(three_sources()), IsEmpty());
}

TEST(Panels, TablesHoldWhatSeveralSourcesAnswer_InOneUnit) {
  results::Document document = beside_torch();
  document.launches.push_back(measured().launches.front());
  document.launches.back().cell.global_batch = 7;
  std::vector<ProjectedDocument> projected;
  projected.push_back(named("p", simulated("dgx-a100", "hardware")));
  const Report report = make_report(std::move(document), std::move(projected));
  const std::vector<Panel> panels = panels_of(report);
  ASSERT_THAT(panels, SizeIs(3));
  EXPECT_THAT(panels[0].cells, SizeIs(4));
  const std::vector<TextTable> tables = panel_tables(panels);
  for (const TextTable& table : tables) {
    EXPECT_THAT(table.rows, SizeIs(3));
    EXPECT_EQ(table.columns[4].title, "samples per second");
  }
  EXPECT_THAT(tables[2].rows.back(),
              ElementsAre("mlp-small", "32", "8", "ddp", HasSubstr("25,600 ["), HasSubstr("10.0")));
}

TEST(Panels, TextFormsNameTheSourceAboveEachTable) {
  const Report report = three_sources();
  for (const std::string& text : {to_markdown(report), whole_text(report)}) {
    const auto own = text.find("Tandem, measured");
    const auto torch = text.find("PyTorch 2.15.0, measured");
    const auto projected =
        text.find("Tandem, projected onto the measured machine (Test CPU, a core)");
    EXPECT_LT(own, torch);
    EXPECT_LT(torch, projected);
    ASSERT_NE(projected, std::string::npos);
    EXPECT_NE(text.find("It errs by 6 %", projected), std::string::npos);
  }
}

}  // namespace
}  // namespace tandem::reports
