// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reports/answer/report.h"
#include "reports/model/subject.h"
#include "reports/tables/cells.h"
#include "reports/tables/ddp.h"
#include "reports/text/table.h"
#include "tests/reports/synthetic.h"

namespace tandem::reports {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Field;
using testing::HasSubstr;
using testing::Not;

Synthetic with_phases() {
  Synthetic synthetic;
  synthetic.add("dp", 2, {0.10, 0.101}).add("ddp", 2, {0.05, 0.051});
  for (auto& record : synthetic.document().launches) {
    const bool is_dp = record.cell.strategy == "dp";
    record.phases = {{.device = 0,
                      .mean_seconds = {{"forward", 0.02},
                                       {is_dp ? "reduce" : "bucket_copy", is_dp ? 0.03 : 0.01},
                                       {is_dp ? "replicate" : "exposed_comm", 0.005}},
                      .span_seconds = 0.04}};
    record.critical = record.phases.front();
    record.memory = {{.device = 0, .capacity_bytes = 0, .peak_bytes = is_dp ? 300 : 100},
                     {.device = 1, .capacity_bytes = 0, .peak_bytes = 100}};
  }
  return synthetic;
}

auto says(const std::string& text, const std::string& evidence) {
  return Contains(AllOf(Field(&Advice::text, HasSubstr(text)),
                        Field(&Advice::evidence, Field(&Heading::id, evidence))));
}

TEST(Advice, NamesThePhaseThatLimits_OfThoseThatParallelismAdds) {
  Synthetic synthetic = with_phases();
  const std::vector<Advice> list = advice(summarize(synthetic.document()));
  EXPECT_THAT(list, says("dp is limited by reduce: adding gradients on device 0, 30 % of its step; "
                         "ddp is limited by bucket_copy: copying "
                         "gradients between their own memory and buckets, 20 % of its step",
                         "phases"));
  EXPECT_THAT(list, says("--grads=views", "phases"));
}

TEST(Advice, NamesWhatTorchDoesNotDoByDefault_WhereGpusWaitForGradients) {
  const std::string remedy = "--comm-priority=high";
  Synthetic synthetic = with_phases();
  EXPECT_THAT(advice(summarize(synthetic.document())), Not(says(remedy, "phases")));
  for (auto& record : synthetic.document().launches) record.cell.backend = "cuda";
  EXPECT_THAT(advice(summarize(synthetic.document())),
              AllOf(says(remedy, "phases"), says("takes up to 10 % of a step of ddp", "phases")));
}

TEST(Advice, NamesTheRootsMemory_WhereItBearsMore) {
  Synthetic synthetic = with_phases();
  EXPECT_THAT(advice(summarize(synthetic.document())),
              says("device 0 needs up to 3.0 times the memory of the others", "memory"));
  for (auto& record : synthetic.document().launches) record.memory[0].peak_bytes = 105;
  EXPECT_THAT(advice(summarize(synthetic.document())), Not(says("times the memory", "memory")));
}

TEST(Advice, NamesDevicesWithoutWork) {
  Synthetic synthetic = with_phases();
  for (auto& record : synthetic.document().launches) record.devices_used = 1;
  EXPECT_THAT(advice(summarize(synthetic.document())), says("dp uses 1 of them", "cells"));
}

TEST(Advice, NothingMeasured_NamesASweep_UnlessAnAnswerIsRecorded) {
  Synthetic synthetic;
  EXPECT_THAT(make_report(synthetic.document()).advice, says("tandem run quick", "comparisons"));
  synthetic.document().sweep.context.custom[kProjectedAnswer] = "what\nits limits";
  EXPECT_THAT(make_report(synthetic.document()).advice, testing::IsEmpty());
}

Synthetic with_caps() {
  Synthetic synthetic;
  for (const char* cap : {"100", "", "1"}) {
    const double step = std::string(cap) == "1" ? 0.03 : 0.05;
    synthetic.add("ddp", 2, {step, step * 1.001, step * 0.999});
    for (std::size_t i = synthetic.document().launches.size() - 3;
         i < synthetic.document().launches.size(); ++i) {
      if (*cap != 0) synthetic.document().launches[i].cell.options["bucket-mb"] = cap;
    }
  }
  return synthetic;
}

TEST(BucketCurve, IsByCap_AndKnowsTheFastest) {
  Synthetic synthetic = with_caps();
  const Summary summary = summarize(synthetic.document());
  const std::vector<BucketCurve> curves = bucket_curves(summary);
  ASSERT_EQ(curves.size(), 1U);
  ASSERT_EQ(curves[0].points.size(), 3U);
  EXPECT_EQ(curves[0].points[0].cap, "1");
  EXPECT_EQ(curves[0].points[1].cap, "25");
  EXPECT_EQ(&curves[0].best(), curves[0].points.data());
  EXPECT_TRUE(curves[0].best_is_resolved());
  EXPECT_THAT(advice(summary), says("the fastest bucket size measured is 1 MiB, faster than the "
                                    "default of 25 MiB.",
                                    "cells"));
}

TEST(WeakScaling, IsAgainstSingle_OnOneDevicesShare) {
  Synthetic synthetic;
  synthetic.add("single", 1, {0.040, 0.040}, 32).add("single", 1, {0.080, 0.080}, 64);
  synthetic.add("ddp", 2, {0.050, 0.050}, 64).add("ddp", 2, {0.050, 0.050}, 63);
  const Summary summary = summarize(synthetic.document());
  for (const CellSummary& summed : summary.cells) {
    const results::Cell& cell = summed.cell;
    const std::optional<stats::Estimate>& weak = summed.weak_efficiency;
    EXPECT_EQ(weak.has_value(), cell.strategy == "ddp" && cell.global_batch == 64);
    EXPECT_NEAR(weak ? weak->center : 0.8, 0.8, 1e-12);
  }
}

TEST(DeviceMemory, PeakIsTheMostOverLaunches) {
  Synthetic synthetic = with_phases();
  synthetic.document().launches[1].memory[1].peak_bytes = 150;
  const Summary summary = summarize(synthetic.document());
  EXPECT_THAT(peak_memory(summary.cells[0]), testing::ElementsAre(300, 150));
  EXPECT_EQ(memory_table(summary).rows.size(), 2U);
  EXPECT_FALSE(root_burden({5}));
}

TEST(DeviceMemory, RanksThatOneStandsFor_HaveItsPeakEach) {
  Synthetic synthetic = with_phases();
  for (results::LaunchRecord& record : synthetic.document().launches) {
    record.memory = {{.device = 0, .capacity_bytes = 400, .peak_bytes = 300},
                     {.device = 1, .count = 3, .capacity_bytes = 400, .peak_bytes = 100}};
  }
  const Summary summary = summarize(synthetic.document());
  EXPECT_THAT(peak_memory(summary.cells[0]), testing::ElementsAre(300, 100, 100, 100));
  EXPECT_DOUBLE_EQ(root_burden(peak_memory(summary.cells[0])).value(), 3);
}

}  // namespace
}  // namespace tandem::reports
