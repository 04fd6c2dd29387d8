// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/launch/torch_twin.h"

#include <gtest/gtest.h>

#include "reports/model/subject.h"

namespace tandem::cli {
namespace {

results::Cell cell_of(const std::string& strategy,
                      const std::map<std::string, std::string>& options = {}) {
  const bool in_processes = strategy == "ddp" || strategy == "independent";
  return {.strategy = strategy,
          .launch = in_processes ? "processes" : "threads",
          .model = "mlp-small",
          .backend = "host",
          .devices = 2,
          .global_batch = 64,
          .options = options};
}

TEST(HasTorchCounterpart, OfStrategiesAndOptionsThatTorchHas) {
  for (const char* strategy : {"single", "independent", "ddp", "dp"}) {
    EXPECT_TRUE(has_torch_counterpart(cell_of(strategy))) << strategy;
    EXPECT_TRUE(has_torch_counterpart(cell_of(strategy, {{"optimizer", "adam"}}))) << strategy;
  }
  EXPECT_TRUE(has_torch_counterpart(cell_of("ddp", {{"grads", "views"}, {"bucket-mb", "10"}})));
}

TEST(HasTorchCounterpart, NotOfWhatOnlyTandemHas) {
  for (const char* strategy : {"dp-allreduce", "ddp-replicate"}) {
    EXPECT_FALSE(has_torch_counterpart(cell_of(strategy))) << strategy;
  }
  results::Cell threads = cell_of("independent");
  threads.launch = "threads";
  EXPECT_FALSE(has_torch_counterpart(threads));
  EXPECT_FALSE(has_torch_counterpart(cell_of("ddp", {{"overlap", "off"}})));
  EXPECT_FALSE(has_torch_counterpart(cell_of("ddp", {{"bucket-mb", "all"}})));
  EXPECT_FALSE(has_torch_counterpart(cell_of("ddp", {{"dispatch-cost", "8us"}})));
  EXPECT_FALSE(has_torch_counterpart(cell_of("single", {{"grads", "views"}})));
  EXPECT_FALSE(has_torch_counterpart(cell_of("dp", {{"threads", "kept"}})));
}

TEST(AddTorchCells, StandBehindTandemsOwn_AndNameTheirImplementation) {
  PlannedCells planned{.cells = {cell_of("single"), cell_of("ddp")}, .dropped = {}};
  add_torch_cells(planned, "torch-2.15.0", true, TorchCells::kAll);
  ASSERT_EQ(planned.cells.size(), 4U);
  EXPECT_EQ(planned.cells[3].name(),
            "ddp/processes/mlp-small/devices:2/batch:64/implementation:torch-2.15.0");
  EXPECT_EQ(reports::own_cell(planned.cells[3]), planned.cells[1]);
}

TEST(AddTorchCells, OfPairs_AreThoseOfDpAndDdp_AndNothingIsSaidOfOthers) {
  PlannedCells planned{.cells = {cell_of("single"), cell_of("dp"), cell_of("ddp"),
                                 cell_of("ddp", {{"dispatch-cost", "8us"}})},
                       .dropped = {}};
  add_torch_cells(planned, "torch-2.15.0", false, TorchCells::kPairs);
  ASSERT_EQ(planned.cells.size(), 6U);
  EXPECT_EQ(reports::own_cell(planned.cells[4]), planned.cells[1]);
  EXPECT_EQ(reports::own_cell(planned.cells[5]), planned.cells[2]);
  EXPECT_TRUE(planned.dropped.empty());
}

TEST(AddTorchCells, DataParallelIsDroppedOnTheHost_AndMeasuredOnGpus) {
  PlannedCells host{.cells = {cell_of("dp")}, .dropped = {}};
  add_torch_cells(host, "torch-2.15.0", true, TorchCells::kAll);
  ASSERT_EQ(host.dropped.size(), 1U);
  EXPECT_NE(host.dropped[0].reason.find("between GPUs"), std::string::npos);
  PlannedCells gpus{.cells = {cell_of("dp")}, .dropped = {}};
  add_torch_cells(gpus, "torch-2.15.0", false, TorchCells::kAll);
  EXPECT_EQ(gpus.cells.size(), 2U);
}

}  // namespace
}  // namespace tandem::cli
