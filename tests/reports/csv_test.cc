// SPDX-License-Identifier: Apache-2.0
#include "reports/render/csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "reports/tables/cells.h"
#include "tests/reports/cost_samples.h"
#include "tests/reports/csv_rows.h"
#include "tests/reports/synthetic.h"

namespace tandem::reports {
namespace {

using testing::SizeIs;

Synthetic some() {
  Synthetic synthetic;
  synthetic.add("single", 1, {0.08, 0.081}).add("single", 1, {0.05, 0.051}, 32);
  synthetic.add("dp", 2, {0.06, 0.061}).add("ddp", 2, {0.05, 0.051});
  return synthetic.add_without_time("dp", 4, results::Status::kFailed, "lost, it \"said\"");
}

std::string samples_of(Synthetic& synthetic) {
  std::string text;
  const Summary summary = summarize(synthetic.document());
  write_samples_csv([&text](std::string_view part) { text += part; }, summary);
  return text;
}

TEST(SamplesCsv, HasARowPerSample_ToTheLastDigit) {
  Synthetic synthetic;
  synthetic.add("ddp", 2, {0.05, 0.051});
  std::vector<results::LaunchRecord>& launches = synthetic.document().launches;
  launches[0].step_seconds = {0.1 + 0.2, 1.0 / 3, 1.5e-7};
  launches[1].step_seconds = {0.25};
  const std::vector<CsvRow> rows = csv_rows(samples_of(synthetic));
  ASSERT_THAT(rows, SizeIs(4));
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(std::stod(rows[i].at("step_s")), launches[0].step_seconds[i]);
    EXPECT_EQ(rows[i].at("launch_index"), "0");
    EXPECT_EQ(rows[i].at("sample"), std::to_string(i));
  }
  EXPECT_EQ(rows[3].at("launch_index"), "1");
  EXPECT_EQ(rows[3].at("step_s"), "0.25");
}

TEST(SamplesCsv, WhatDidNotMeasure_HasNoRows) {
  Synthetic synthetic = some();
  const std::vector<CsvRow> rows = csv_rows(samples_of(synthetic));
  EXPECT_THAT(rows, SizeIs(4 * 2 * 3));
  EXPECT_TRUE(std::none_of(rows.begin(), rows.end(),
                           [](const CsvRow& row) { return row.at("devices") == "4"; }));
}

// The columns that name a cell.
std::vector<std::string> cell_of(const CsvRow& row) {
  std::vector<std::string> fields;
  for (const char* name :
       {"model", "global_batch", "devices", "strategy", "launch", "backend", "mode", "options"}) {
    fields.push_back(row.at(name));
  }
  return fields;
}

TEST(SamplesCsv, EachRow_BelongsToOneOfCellsCsv) {
  Synthetic synthetic = some();
  synthetic.document().launches[2].mode = "free-running";
  synthetic.document().launches[3].cell.options = {{"bucket-mb", "1"}, {"grads", "views"}};
  synthetic.document().launches[4].cell.model = "a \"model\", on\ntwo lines";
  std::multiset<std::vector<std::string>> cells;
  for (const CsvRow& row : csv_rows(to_csv(summarize(synthetic.document())))) {
    cells.insert(cell_of(row));
  }
  for (const CsvRow& row : csv_rows(samples_of(synthetic))) {
    EXPECT_EQ(cells.count(cell_of(row)), 1U) << row.at("model") << row.at("options");
  }
}

TEST(SamplesCsv, WhatIsNoFigureOfThisMachine_IsMarkedInEachRow) {
  Synthetic synthetic;
  synthetic.add("ddp", 2, {0.05});
  results::LaunchRecord& record = synthetic.document().launches[0];
  record.modelled = {"dispatch cost 8us"};
  record.planted = "backward:1ms";
  record.oversubscribed = true;
  for (const CsvRow& row : csv_rows(samples_of(synthetic))) {
    EXPECT_EQ(row.at("modelled"), "dispatch cost 8us");
    EXPECT_EQ(row.at("planted"), "backward:1ms");
    EXPECT_EQ(row.at("oversubscribed"), "1");
  }
}

TEST(SamplesCsv, ComesInParts_HoweverManySamples) {
  Synthetic synthetic;
  synthetic.add("ddp", 2, {0.05});
  synthetic.document().launches[0].step_seconds.assign(50'000, 0.0123456789);
  std::size_t largest = 0;
  std::size_t lines = 0;
  const Summary summary = summarize(synthetic.document());
  write_samples_csv(
      [&](std::string_view part) {
        largest = std::max(largest, part.size());
        lines += static_cast<std::size_t>(std::count(part.begin(), part.end(), '\n'));
      },
      summary);
  EXPECT_EQ(lines, 50'001U);
  EXPECT_LT(largest, 100'000U);
}

TEST(ComparisonsCsv, HasARowPerPoint_WithItsVerdict) {
  Synthetic synthetic = some();
  synthetic.add("dp", 4, {0.05, 0.06}).add("ddp", 4, {0.06, 0.05});
  const std::vector<CsvRow> rows = csv_rows(to_comparisons_csv(summarize(synthetic.document())));
  ASSERT_THAT(rows, SizeIs(2));
  EXPECT_EQ(rows[0].at("devices"), "2");
  EXPECT_NEAR(std::stod(rows[0].at("ddp_speed")), 1.198, 1e-3);
  EXPECT_LT(std::stod(rows[0].at("ddp_speed_low")), 1.198);
  EXPECT_EQ(rows[0].at("ddp_launches"), "2");
  EXPECT_EQ(rows[0].at("ddp_is"), "faster");
  EXPECT_EQ(rows[1].at("ddp_is"), "not resolved");
}

TEST(ComparisonsCsv, OfOneLaunch_HasNoEnds) {
  Synthetic synthetic;
  synthetic.add("dp", 2, {0.06}).add("ddp", 2, {0.05});
  const std::vector<CsvRow> rows = csv_rows(to_comparisons_csv(summarize(synthetic.document())));
  ASSERT_THAT(rows, SizeIs(1));
  EXPECT_EQ(rows[0].at("ddp_speed"), "1.2");
  EXPECT_EQ(rows[0].at("ddp_speed_high"), "");
}

TEST(CellsCsv, HasEnergy_WhereGpusToldIt) {
  Synthetic synthetic;
  synthetic.add("dp", 2, {0.05}).add("ddp", 2, {0.05, 0.05});
  synthetic.document().launches[1].joules_per_step = 31;
  synthetic.document().launches[2].joules_per_step = 33;
  const Summary summary = summarize(synthetic.document());
  const std::vector<CsvRow> rows = csv_rows(to_csv(summary));
  ASSERT_THAT(rows, SizeIs(2));
  EXPECT_EQ(rows[0].at("joules_per_step"), "");
  EXPECT_EQ(rows[1].at("joules_per_step"), "32");
  EXPECT_LT(std::stod(rows[1].at("joules_per_step_low")), 31);
  EXPECT_EQ(rows[1].at("joules_per_sample"), "0.5");
  const TextTable table = energy_table(summary);
  ASSERT_THAT(table.rows, SizeIs(1));
  EXPECT_TRUE(table.rows[0].back().starts_with("0.5 [")) << table.rows[0].back();
}

TEST(CellsCsv, HasWeakScaling_WhereItsBaselineWasMeasured) {
  Synthetic synthetic = some();
  for (const CsvRow& row : csv_rows(to_csv(summarize(synthetic.document())))) {
    const bool has = row.at("devices") == "2";  // batch 64 on two, single at 32
    EXPECT_EQ(row.at("weak_efficiency").empty(), !has) << row.at("strategy");
    if (row.at("strategy") != "ddp") continue;
    EXPECT_EQ(row.at("weak_efficiency"), "1");  // as long as single on half the batch
  }
}

TEST(CellsCsv, HasPeaksAndPhases_AndOfOtherNamesTheirSum) {
  Synthetic synthetic;
  synthetic.add("ddp", 2, {0.05});
  results::LaunchRecord& record = synthetic.document().launches[0];
  record.memory = {{.device = 0, .capacity_bytes = 0, .peak_bytes = 300},
                   {.device = 1, .capacity_bytes = 0, .peak_bytes = 100}};
  record.critical = device(0, {{"forward", 20}, {"to dream", 3}, {"to rest", 4}});
  record.phases = {record.critical};
  record.remainder_seconds = 0.023;
  const CsvRow row = csv_rows(to_csv(summarize(synthetic.document()))).at(0);
  EXPECT_EQ(row.at("peak_device0_bytes"), "300");
  EXPECT_EQ(row.at("peak_others_bytes"), "100");
  EXPECT_EQ(row.at("phase_forward_s"), "0.02");
  EXPECT_EQ(row.at("phase_backward_s"), "");
  EXPECT_EQ(row.at("phases_of_other_names_s"), "0.007");
  EXPECT_EQ(row.at("remainder_s"), "0.023");
}

TEST(EveryCsv, NamesEachColumnOnce_AndHasAFieldForEach) {
  Synthetic synthetic = some();
  const Summary summary = summarize(synthetic.document());
  for (const std::string& text :
       {to_csv(summary), to_comparisons_csv(summary), samples_of(synthetic)}) {
    const auto records = csv_records(text);
    const std::set<std::string> names(records[0].begin(), records[0].end());
    EXPECT_EQ(names.size(), records[0].size());
    for (const auto& record : records) EXPECT_EQ(record.size(), records[0].size()) << text;
  }
}

}  // namespace
}  // namespace tandem::reports
