// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/sweep/plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "common/base/error.h"
#include "tests/support/build_folder.h"
#include "tools/tandem/run/cell_groups.h"
#include "tools/tandem/sweep/sweep.h"

namespace tandem::cli {
namespace {

Sweep small_sweep() {
  Sweep sweep;
  sweep.workloads = {{.model = "mlp-small", .batch = 64}};
  sweep.devices = {1, 2};
  sweep.strategies = {{.strategy = "single", .launch = "threads", .options = {}},
                      {.strategy = "independent", .launch = "threads", .options = {}},
                      {.strategy = "dp", .launch = "threads", .options = {}},
                      {.strategy = "ddp", .launch = "processes", .options = {}}};
  return sweep;
}

std::vector<std::string> names(const std::vector<results::Cell>& cells) {
  std::vector<std::string> found;
  for (const auto& cell : cells) found.push_back(cell.name());
  return found;
}

TEST(Plan, SingleIsOneDevice_IndependentBeginsAtTwo) {
  EXPECT_EQ(names(plan_cells(small_sweep(), "host").cells),
            (std::vector<std::string>{"single/threads/mlp-small/devices:1/batch:64",
                                      "independent/threads/mlp-small/devices:2/batch:64",
                                      "dp/threads/mlp-small/devices:1/batch:64",
                                      "dp/threads/mlp-small/devices:2/batch:64",
                                      "ddp/processes/mlp-small/devices:1/batch:64",
                                      "ddp/processes/mlp-small/devices:2/batch:64"}));
}

TEST(Plan, SingleIsThere_WhereTheListBeginsAtTwo) {
  Sweep sweep = small_sweep();
  sweep.devices = {2};
  EXPECT_EQ(plan_cells(sweep, "host").cells.front().devices, 1);
}

TEST(Plan, Precision_IsAnOptionOfEveryCell_UnlessTheStrategyHasItsOwn) {
  Sweep sweep = small_sweep();
  sweep.workloads = {{.model = "mlp-small", .batch = 64},
                     {.model = "mlp-small", .batch = 64, .precision = "bf16"}};
  sweep.devices = {1};
  sweep.strategies.erase(sweep.strategies.begin() + 1, sweep.strategies.end());
  EXPECT_EQ(
      names(plan_cells(sweep, "host").cells),
      (std::vector<std::string>{"single/threads/mlp-small/devices:1/batch:64",
                                "single/threads/mlp-small/devices:1/batch:64/precision:bf16"}));
  sweep.workloads.erase(sweep.workloads.begin());
  sweep.strategies[0].options["precision"] = "tf32";
  EXPECT_EQ(names(plan_cells(sweep, "host").cells),
            std::vector<std::string>{"single/threads/mlp-small/devices:1/batch:64/precision:tf32"});
}

TEST(Plan, RepeatedCells_AreAUsageError) {
  Sweep sweep = small_sweep();
  sweep.devices = {1, 2, 2};
  EXPECT_THROW((void)plan_cells(sweep, "host").cells, Error);
}

// Four cells on one and two devices for each of some batches, the batches taking turns.
std::vector<results::Cell> cells_of(int batches) {
  std::vector<results::Cell> cells;
  for (const char* strategy : {"dp", "ddp"}) {
    for (const int devices : {1, 2}) {
      for (int batch = 1; batch <= batches; ++batch) {
        cells.push_back({.strategy = strategy,
                         .launch = "threads",
                         .model = "mlp-small",
                         .backend = "host",
                         .devices = devices,
                         .global_batch = 64 * batch,
                         .options = {}});
      }
    }
  }
  return cells;
}

TEST(Plan, EveryRoundHoldsEveryCellOnce_InAnotherOrder) {
  const std::vector<PlannedLaunch> all = interleaved(cells_of(3), 3);
  ASSERT_EQ(all.size(), 36U);
  std::set<std::vector<std::size_t>> orders;
  for (int round = 0; round < 3; ++round) {
    std::vector<std::size_t> order;
    for (int i = 0; i < 12; ++i) {
      const PlannedLaunch& planned = all[static_cast<std::size_t>(12 * round + i)];
      EXPECT_EQ(planned.launch, round);
      order.push_back(planned.cell);
    }
    EXPECT_EQ(std::set<std::size_t>(order.begin(), order.end()).size(), 12U);
    orders.insert(order);
  }
  EXPECT_EQ(orders.size(), 3U);
}

TEST(Plan, Order_IsTheSameEveryTime) {
  const std::vector<PlannedLaunch> a = interleaved(cells_of(5), 6);
  const std::vector<PlannedLaunch> b = interleaved(cells_of(5), 6);
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_EQ(a[i].cell, b[i].cell);
}

TEST(Plan, WithinARound_CellsOfOnePointFollowEachOther_AndPointsOfOneWorkload) {
  const std::vector<results::Cell> cells = cells_of(5);
  std::set<std::vector<std::int64_t>> orders;
  const std::vector<PlannedLaunch> all = interleaved(cells, 6);
  for (std::size_t first = 0; first < all.size(); first += 20) {
    std::vector<std::int64_t> batches;
    for (std::size_t i = first; i < first + 20; i += 4) {
      std::vector<int> devices;
      for (std::size_t place = i; place < i + 4; ++place) {
        const results::Cell& cell = cells[all[place].cell];
        EXPECT_EQ(cell.global_batch, cells[all[i].cell].global_batch);
        devices.push_back(cell.devices);
      }
      EXPECT_EQ(devices[0], devices[1]);
      EXPECT_EQ(devices[2], devices[3]);
      EXPECT_NE(devices[1], devices[2]);
      batches.push_back(cells[all[i].cell].global_batch);
    }
    orders.insert(batches);
  }
  EXPECT_GT(orders.size(), 4U);
}

constexpr int kEightDevices = 8;

Sweep shipped(const std::string& name) {
  return load_sweep(name, {test::build_folder() / "share/tandem/sweeps"}, {.all = kEightDevices});
}

TEST(Plan, EveryShippedSweep_HasItsNameAndADescription_AndMakesSense) {
  const auto list = list_sweeps({test::build_folder() / "share/tandem/sweeps"});
  EXPECT_EQ(list.size(), 12U);
  for (const auto& [name, description] : list) {
    EXPECT_EQ(shipped(name).name, name);
    EXPECT_FALSE(description.empty()) << name;
    for (const DroppedCell& dropped : plan_cells(shipped(name), "cuda").dropped) {
      EXPECT_FALSE(dropped.reason.empty()) << dropped.cell.name();
    }
  }
}

// The whole order is docs/sweeps.md's; here what ten minutes on eight GPUs have to hold.
TEST(Plan, NodeSweep_BeginsWithEachModelOnAllDevices) {
  const std::vector<results::Cell> cells = plan_cells(shipped("node"), "cuda").cells;
  const std::vector<CellGroup> groups = most_informative_first(cells);
  std::vector<std::string> first;
  for (std::size_t i = 0; i < 5; ++i) {
    const results::Cell& cell = cells[groups[i].front()];
    EXPECT_EQ(cell.devices, 8);
    EXPECT_EQ(groups[i].size(), 2U);  // dp and ddp
    first.push_back(cell.model + " " + std::to_string(cell.global_batch / cell.devices));
  }
  EXPECT_EQ(first, (std::vector<std::string>{"gpt2-124m:1024 8", "resnet50 64", "mlp-100m 256",
                                             "gpt2-124m:1024 48", "resnet50 640"}));
}

TEST(Plan, BatchPerDevice_HasItsBaselineOnOneDeviceAtEachWholeBatch) {
  Sweep sweep = small_sweep();
  sweep.workloads = {{.model = "m", .batch = 16, .is_per_device = true}};
  sweep.devices = {2, 4};
  std::vector<std::string> singles;
  for (const std::string& name : names(plan_cells(sweep, "host").cells)) {
    if (name.starts_with("single")) singles.push_back(name);
  }
  EXPECT_EQ(singles, (std::vector<std::string>{"single/threads/m/devices:1/batch:32",
                                               "single/threads/m/devices:1/batch:64"}));
}

TEST(Plan, ModelSizeSweep_NamesItsSeries) {
  const Sweep sweep = shipped("model-size");
  ASSERT_EQ(sweep.model_series.size(), 2U);
  EXPECT_EQ(sweep.model_series[0].size(), 9U);
  EXPECT_EQ(sweep.model_series[1].back(), "gpt2-1558m:256");
}

TEST(Plan, DevicesThatDoNotDivideABatch_AreDroppedWithThatReason) {
  Sweep sweep = small_sweep();
  sweep.devices = {1, 3};
  const PlannedCells planned = plan_cells(sweep, "host");
  const auto dropped = std::find_if(planned.dropped.begin(), planned.dropped.end(),
                                    [](const auto& cell) { return cell.cell.strategy == "ddp"; });
  ASSERT_NE(dropped, planned.dropped.end());
  EXPECT_EQ(dropped->reason, "3 devices do not divide a batch of 64");
}

TEST(Plan, WhatABackEndHasNoUseFor_IsDropped) {
  Sweep sweep = small_sweep();
  sweep.strategies[2].options["p2p"] = "off";
  for (const bool is_host : {true, false}) {
    PlannedCells planned = plan_cells(sweep, "auto");
    const std::size_t before = planned.cells.size();
    drop_for_backend(planned, is_host);
    EXPECT_EQ(planned.cells.size(), is_host ? before - 2 : before);
    EXPECT_TRUE(!is_host || planned.dropped.back().reason == "p2p is between GPUs");
  }
}

TEST(Plan, Larger_IsALargerBatchOrALaterModel_AndNothingElse) {
  const std::vector<std::vector<std::string>> series{{"mlp-small", "mlp-base"}};
  const results::Cell small = plan_cells(small_sweep(), "host").cells.back();
  results::Cell large = small;
  EXPECT_FALSE(is_larger(large, small, series));
  large.global_batch = 512;
  EXPECT_TRUE(is_larger(large, small, series));
  EXPECT_FALSE(is_larger(small, large, series));
  large.model = "mlp-base";
  EXPECT_TRUE(is_larger(large, small, series));
  EXPECT_FALSE(is_larger(large, small, {}));
  large.global_batch = 32;
  EXPECT_FALSE(is_larger(large, small, series));
  large.global_batch = 64;
  EXPECT_TRUE(is_larger(large, small, series));
  large.devices = 4;
  EXPECT_FALSE(is_larger(large, small, series));
}

}  // namespace
}  // namespace tandem::cli
