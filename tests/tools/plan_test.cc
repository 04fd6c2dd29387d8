// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/plan.h"

#include <gtest/gtest.h>

#include <set>

#include "common/base/error.h"
#include "tests/support/build_folder.h"

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
  EXPECT_EQ(names(cells_of(small_sweep(), "host")),
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
  EXPECT_EQ(cells_of(sweep, "host").front().devices, 1);
}

TEST(Plan, Precision_IsAnOptionOfEveryCell_UnlessTheStrategyHasItsOwn) {
  Sweep sweep = small_sweep();
  sweep.workloads = {{.model = "mlp-small", .batch = 64},
                     {.model = "mlp-small", .batch = 64, .precision = "bf16"}};
  sweep.devices = {1};
  sweep.strategies.erase(sweep.strategies.begin() + 1, sweep.strategies.end());
  EXPECT_EQ(
      names(cells_of(sweep, "host")),
      (std::vector<std::string>{"single/threads/mlp-small/devices:1/batch:64",
                                "single/threads/mlp-small/devices:1/batch:64/precision:bf16"}));
  sweep.workloads.erase(sweep.workloads.begin());
  sweep.strategies[0].options["precision"] = "tf32";
  EXPECT_EQ(names(cells_of(sweep, "host")),
            std::vector<std::string>{"single/threads/mlp-small/devices:1/batch:64/precision:tf32"});
}

TEST(Plan, RepeatedCells_AreAUsageError) {
  Sweep sweep = small_sweep();
  sweep.devices = {1, 2, 2};
  EXPECT_THROW((void)cells_of(sweep, "host"), Error);
}

TEST(Plan, EveryRoundHoldsEveryCellOnce_InAnotherOrder) {
  const std::vector<Slot> slots = interleaved(10, 3);
  ASSERT_EQ(slots.size(), 30U);
  std::set<std::vector<std::size_t>> orders;
  for (int round = 0; round < 3; ++round) {
    std::vector<std::size_t> order;
    for (int i = 0; i < 10; ++i) {
      const Slot& slot = slots[static_cast<std::size_t>(10 * round + i)];
      EXPECT_EQ(slot.launch, round);
      order.push_back(slot.cell);
    }
    EXPECT_EQ(std::set<std::size_t>(order.begin(), order.end()).size(), 10U);
    orders.insert(order);
  }
  EXPECT_EQ(orders.size(), 3U);
}

TEST(Plan, Order_IsTheSameEveryTime) {
  const std::vector<Slot> a = interleaved(21, 6);
  const std::vector<Slot> b = interleaved(21, 6);
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_EQ(a[i].cell, b[i].cell);
}

Sweep shipped(const std::string& name) {
  return load_sweep(name, {test::build_folder() / "share/tandem/sweeps"});
}

TEST(Plan, QuickSweep_Has21Cells) {
  const Sweep sweep = shipped("quick");
  EXPECT_EQ(cells_of(sweep, "auto").size(), 21U);
  EXPECT_EQ(sweep.launches, 6);
}

TEST(Plan, DdpSweep_HasEveryVariantAndItsBound_AtBothBatches) {
  const Sweep sweep = shipped("ddp");
  const std::vector<results::Cell> cells = cells_of(sweep, "auto");
  EXPECT_EQ(cells.size(), 14U);
  EXPECT_EQ(sweep.launches, 6);
  for (const results::Cell& cell : cells) {
    EXPECT_EQ(cell.launch, "processes");
    EXPECT_EQ(cell.devices, 2);
  }
}

// Otherwise what is compared would be links.
TEST(Plan, OverlapSweep_HasOneLink) {
  std::set<std::string> links;
  for (const results::Cell& cell : cells_of(shipped("overlap"), "auto")) {
    links.insert(cell.options.at("link"));
  }
  EXPECT_EQ(links.size(), 1U);
  EXPECT_EQ(cells_of(shipped("overlap"), "auto").size(), 3U);
}

TEST(Plan, Series_DifferByBatchAlone) {
  results::Cell a = cells_of(small_sweep(), "host").back();
  results::Cell b = a;
  b.global_batch = 512;
  EXPECT_TRUE(same_series(a, b));
  b.devices = 4;
  EXPECT_FALSE(same_series(a, b));
}

}  // namespace
}  // namespace tandem::cli
