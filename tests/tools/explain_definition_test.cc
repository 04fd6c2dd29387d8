// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/explain/explain_definition.h"

#include <gtest/gtest.h>

#include "common/base/error.h"
#include "tests/reports/ladder_samples.h"
#include "tests/support/errors.h"
#include "tools/tandem/sweep/sweep.h"

namespace tandem::cli {
namespace {

reports::GapQuestion question() {
  reports::GapQuestion question = reports::sample_question();
  question.dispatch_cost = "8us";
  question.interpreter_lock = true;
  return question;
}

const MeasuringSettings kMeasuring{
    .backend = "host", .min_time = "20ms", .min_samples = 4, .oversubscribe = true};

TEST(ExplainDefinition, OfASweep_TellsItsCellsAndHowTheyWereMeasured) {
  const Sweep sweep = parse_sweep(R"({"name": "test", "workloads": [{"model": "m", "batch": 8}],
      "devices": 2, "strategies": ["dp", "ddp"], "min_time": "20ms", "min_samples": 4})",
                                  "test.json");
  const PlannedBefore planned =
      planned_by(definition_of(sweep, {"host", true, "hosts node1:2"}), "folder");
  EXPECT_EQ(planned.cells, (std::set<std::string>{"dp/threads/m/devices:2/batch:8",
                                                  "ddp/processes/m/devices:2/batch:8"}));
  EXPECT_EQ(planned.settings.backend, "host");
  EXPECT_EQ(planned.settings.min_time, "20ms");
  EXPECT_EQ(planned.settings.min_samples, 4);
  EXPECT_TRUE(planned.settings.oversubscribe);
  EXPECT_EQ(planned.settings.site, "hosts node1:2");
}

// Between GPUs torch's side of a sweep is dp and ddp alone unless more is asked for, and the ladder
// has its single, too.
TEST(ExplainDefinition, OfTorchsPairs_TellsNoOtherCellsOfTorch) {
  const Sweep sweep = parse_sweep(R"({"name": "test", "workloads": [{"model": "m", "batch": 8}],
      "devices": 1, "strategies": ["single", "ddp"]})",
                                  "test.json");
  const std::string single = "single/threads/m/devices:1/batch:8/implementation:torch-9.9.9";
  const std::string ddp = "ddp/processes/m/devices:1/batch:8/implementation:torch-9.9.9";
  for (const bool pairs_alone : {false, true}) {
    const SweepPlace place{
        .backend = "cuda", .torch = "torch-9.9.9", .torch_has_pairs_alone = pairs_alone};
    const PlannedBefore planned = planned_by(definition_of(sweep, place), "folder");
    EXPECT_TRUE(planned.cells.contains(ddp));
    EXPECT_EQ(planned.cells.contains(single), !pairs_alone);
  }
}

TEST(ExplainDefinition, OfAnExplanation_TellsItsRungs) {
  const PlannedBefore planned = planned_by(definition_of(question(), 6, kMeasuring), "folder");
  EXPECT_EQ(planned.cells.size(), reports::ladder_cells(question()).size());
  for (const reports::RungCell& rung : reports::ladder_cells(question())) {
    EXPECT_TRUE(planned.cells.contains(rung.cell.name())) << rung.label;
  }
  EXPECT_EQ(planned.settings.min_time, "20ms");
}

TEST(ExplainDefinition, OfAPrecision_TellsItsRungs_AndThatOfFp32HasNone) {
  reports::GapQuestion other = question();
  EXPECT_EQ(definition_of(other, 6, kMeasuring).find("precision"), std::string::npos);
  other.precision = "bf16";
  const PlannedBefore planned = planned_by(definition_of(other, 6, kMeasuring), "folder");
  EXPECT_TRUE(planned.cells.contains("dp/threads/mlp-small/devices:2/batch:64/precision:bf16"));
}

TEST(ExplainDefinition, OfAModule_TellsBothSidesModels_AndTheOptimizer) {
  reports::GapQuestion other = question();
  EXPECT_EQ(definition_of(other, 6, kMeasuring).find("module"), std::string::npos);
  other.model = "own.workload.json#12";
  other.implementation = "torch-9.9.9";
  other.module = "own.py:build#34";
  other.optimizer = "adamw";
  const std::set<std::string> cells =
      planned_by(definition_of(other, 6, kMeasuring), "folder").cells;
  EXPECT_TRUE(cells.contains("dp/threads/own.workload.json#12/devices:2/batch:64/optimizer:adamw"));
  EXPECT_TRUE(cells.contains(
      "ddp/processes/own.py:build#34/devices:2/batch:64/implementation:torch-9.9.9"));
  reports::GapQuestion changed = other;
  changed.module = "own.py:build#56";
  EXPECT_NE(definition_of(other, 6, kMeasuring), definition_of(changed, 6, kMeasuring));
}

TEST(ExplainDefinition, OtherQuestions_DifferInIt) {
  reports::GapQuestion other = question();
  other.input = "device";
  EXPECT_NE(definition_of(question(), 6, kMeasuring), definition_of(other, 6, kMeasuring));
  EXPECT_NE(definition_of(question(), 6, kMeasuring), definition_of(question(), 5, kMeasuring));
}

TEST(ExplainDefinition, ForeignText_IsAnError_ThatNamesTheFolder) {
  for (const char* text : {"", "{", "{}", "[1]", R"({"backend": 3})"}) {
    SCOPED_TRACE(text);
    const Error error = test::error_of([&] { (void)planned_by(text, "folder"); });
    EXPECT_NE(std::string(error.what()).find("folder"), std::string::npos);
  }
}

}  // namespace
}  // namespace tandem::cli
