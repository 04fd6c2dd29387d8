// SPDX-License-Identifier: Apache-2.0
//
// Precisions never share a figure, and FLOP/s are held against the peak of their own.
#include <gtest/gtest.h>

#include <map>

#include "reports/answer/verdict.h"
#include "reports/model/subject.h"
#include "reports/render/csv.h"
#include "reports/render/formats.h"
#include "reports/tables/cells.h"
#include "reports/text/table.h"
#include "tests/reports/synthetic.h"
#include "tests/reports/verdict_words.h"

namespace tandem::reports {
namespace {

// What `add` adds from now on is computed in bf16.
void in_bf16(results::Document& document, std::size_t first) {
  for (std::size_t i = first; i < document.launches.size(); ++i) {
    document.launches[i].precision = "bf16";
    document.launches[i].cell.options["precision"] = "bf16";
  }
}

Synthetic both() {
  Synthetic synthetic;
  synthetic.add("single", 1, {0.08, 0.081}).add("dp", 2, {0.06, 0.061});
  synthetic.add("ddp", 2, {0.05, 0.051});
  const std::size_t narrow = synthetic.document().launches.size();
  synthetic.add("single", 1, {0.04, 0.041}).add("dp", 2, {0.03, 0.031});
  synthetic.add("ddp", 2, {0.01, 0.011});
  in_bf16(synthetic.document(), narrow);
  return synthetic;
}

const CellSummary& cell(const Summary& summary, const char* name) {
  for (const CellSummary& found : summary.cells) {
    if (found.cell.name() == name) return found;
  }
  throw std::runtime_error(std::string("no cell ") + name);
}

TEST(Precision, Comparisons_AreWithinOne) {
  Synthetic synthetic = both();
  const Summary summary = summarize(synthetic.document());
  ASSERT_EQ(summary.comparisons.size(), 2U);
  for (const StrategyPair& pair : summary.comparisons) {
    EXPECT_EQ(precision_of(pair.dp->cell), precision_of(pair.ddp->cell));
  }
}

TEST(Precision, Baseline_IsSingleInTheSameOne) {
  Synthetic synthetic = both();
  const Summary summary = summarize(synthetic.document());
  EXPECT_NEAR(cell(summary, "ddp/processes/mlp-small/devices:2/batch:64").speedup->center, 1.6,
              0.02);
  EXPECT_NEAR(
      cell(summary, "ddp/processes/mlp-small/devices:2/batch:64/precision:bf16").speedup->center,
      3.86, 0.02);
}

TEST(Precision, WithoutItsOwnSingle_HasNoSpeedup) {
  Synthetic synthetic;
  synthetic.add("single", 1, {0.08, 0.081});
  synthetic.add("ddp", 2, {0.01, 0.011});
  in_bf16(synthetic.document(), 2);
  const Summary summary = summarize(synthetic.document());
  EXPECT_FALSE(cell(summary, "ddp/processes/mlp-small/devices:2/batch:64/precision:bf16").speedup);
}

TEST(Precision, Charts_AreApart_AndNamedForIt) {
  Synthetic synthetic = both();
  const Summary summary = summarize(synthetic.document());
  std::map<std::string, int> cells;
  for (const CellSummary& member : summary.cells) {
    ++cells[conditions_of(member)];
    EXPECT_EQ(precision_of(member.cell) == "bf16", conditions_of(member).starts_with("bf16, "));
  }
  EXPECT_EQ(cells,
            (std::map<std::string, int>{{"bf16, synchronous", 3}, {"fp32, synchronous", 3}}));
}

TEST(Precision, Verdict_NamesTheOneItIsAbout) {
  Synthetic synthetic = both();
  const Summary summary = summarize(synthetic.document());
  const std::string text = to_text(verdict(synthetic.document(), summary));
  EXPECT_NE(text.find("mlp-small, batch 64, 2 devices: ddp is"), std::string::npos) << text;
  EXPECT_NE(text.find("mlp-small, batch 64, bf16, 2 devices: ddp, precision=bf16 is"),
            std::string::npos)
      << text;
}

// 64 samples of 2 GFLOP in 62.5 ms: 2048 GFLOP/s, on two devices 1024 each.
Synthetic with_flops() {
  Synthetic synthetic;
  synthetic.add("ddp", 2, {0.0625}).add("ddp", 2, {0.015625}, 16);
  in_bf16(synthetic.document(), 1);
  for (auto& record : synthetic.document().launches) record.model.flops_per_sample = 2e9;
  return synthetic;
}

TEST(Peak, Share_IsOfTheSamePrecision_WhicheverLaunchMeasuredIt) {
  Synthetic synthetic = with_flops();
  auto& launches = synthetic.document().launches;
  synthetic.add("single", 1, {0.1});
  launches.back().peak_gflops = 2560;
  const Summary summary = summarize(synthetic.document());
  const CellSummary& wide = cell(summary, "ddp/processes/mlp-small/devices:2/batch:64");
  EXPECT_DOUBLE_EQ(*wide.device_gflops(), 1024);
  EXPECT_DOUBLE_EQ(*wide.peak_share(), 0.4);
  const CellSummary& narrow =
      cell(summary, "ddp/processes/mlp-small/devices:2/batch:16/precision:bf16");
  EXPECT_DOUBLE_EQ(*narrow.device_gflops(), 1024);
  EXPECT_FALSE(narrow.peak_share());
}

TEST(Peak, OfDevicesThatShareCores_HasNoShare) {
  Synthetic synthetic = with_flops();
  for (auto& record : synthetic.document().launches) {
    record.peak_gflops = 2000;
    record.oversubscribed = true;
  }
  const Summary summary = summarize(synthetic.document());
  EXPECT_TRUE(summary.cells[0].device_gflops());
  EXPECT_FALSE(summary.cells[0].peak_share());
}

TEST(Peak, IsInTableAndCsv) {
  Synthetic synthetic = with_flops();
  for (auto& record : synthetic.document().launches) record.peak_gflops = 1600;
  const Summary summary = summarize(synthetic.document());
  const TextTable table = cell_table(summary);
  EXPECT_EQ(table.columns.at(9).title, "GFLOP/s per device (of peak)");
  EXPECT_EQ(table.rows.at(0).at(9), "1,024 (64 %)");
  EXPECT_EQ(table.rows.at(0).size(), table.columns.size());
  EXPECT_NE(to_csv(summary).find(",bf16,1024,1600,0.64,"), std::string::npos);
  EXPECT_NE(to_csv(summary).find(",fp32,1024,1600,0.64,"), std::string::npos);
}

TEST(Peak, UntoldFlops_AreAbsent) {
  Synthetic synthetic;
  synthetic.add("single", 1, {0.1});
  const Summary summary = summarize(synthetic.document());
  EXPECT_FALSE(summary.cells[0].device_gflops());
  EXPECT_EQ(cell_table(summary).rows.at(0).at(9), "-");
}

}  // namespace
}  // namespace tandem::reports
