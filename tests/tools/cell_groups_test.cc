// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/run/cell_groups.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "tools/tandem/sweep/plan.h"

namespace tandem::cli {
namespace {

std::vector<results::Cell> three_batches() {
  Sweep sweep;
  sweep.workloads = {
      {.model = "m", .batch = 8}, {.model = "m", .batch = 64}, {.model = "m", .batch = 512}};
  sweep.devices = {1, 2};
  sweep.strategies = {{.strategy = "single", .launch = "threads", .options = {}},
                      {.strategy = "dp", .launch = "threads", .options = {}},
                      {.strategy = "ddp", .launch = "processes", .options = {}},
                      {.strategy = "ddp", .launch = "processes", .options = {{"grads", "views"}}}};
  return plan_cells(sweep, "host").cells;
}

std::string first_of(const CellGroup& group, const std::vector<results::Cell>& cells) {
  return cells[group.front()].name();
}

TEST(Information, DpAndDdpOnAllDevicesComeFirst_ThenTheirBounds) {
  const std::vector<results::Cell> cells = three_batches();
  const std::vector<CellGroup> groups = most_informative_first(cells);
  EXPECT_EQ(first_of(groups[0], cells), "dp/threads/m/devices:2/batch:8");
  EXPECT_EQ(groups[0].size(), 2U);
  EXPECT_EQ(first_of(groups[1], cells), "dp/threads/m/devices:2/batch:64");
  EXPECT_EQ(first_of(groups[2], cells), "dp/threads/m/devices:2/batch:512");
  EXPECT_EQ(first_of(groups[3], cells), "single/threads/m/devices:1/batch:8");
  EXPECT_EQ(first_of(groups[6], cells), "ddp/processes/m/devices:2/batch:8/grads:views");
  EXPECT_EQ(first_of(groups[9], cells), "dp/threads/m/devices:1/batch:8");
}

std::vector<std::string> firsts(const std::vector<results::Cell>& cells) {
  std::vector<std::string> names;
  for (const CellGroup& group : most_informative_first(cells)) {
    names.push_back(first_of(group, cells));
  }
  return names;
}

TEST(Information, EachModelsFirstBatch_ComesBeforeTheOtherBatchesOfAny) {
  Sweep sweep;
  for (const auto& [model, batch] :
       {std::pair{"a", 8}, std::pair{"b", 64}, std::pair{"a", 48}, std::pair{"b", 640}}) {
    sweep.workloads.push_back({.model = model, .batch = batch, .is_per_device = true});
  }
  sweep.devices = {1, 2};
  sweep.strategies = {{.strategy = "single", .launch = "threads", .options = {}},
                      {.strategy = "dp", .launch = "threads", .options = {}},
                      {.strategy = "ddp", .launch = "processes", .options = {}}};
  const std::vector<std::string> names = firsts(plan_cells(sweep, "host").cells);
  EXPECT_EQ((std::vector<std::string>{names.begin(), names.begin() + 4}),
            (std::vector<std::string>{
                "dp/threads/a/devices:2/batch:16", "dp/threads/b/devices:2/batch:128",
                "dp/threads/a/devices:2/batch:96", "dp/threads/b/devices:2/batch:1280"}));
}

TEST(Information, TorchsOwnPair_ComesBeforeTandems_WhereItHasBoth) {
  std::vector<results::Cell> cells = three_batches();
  const std::size_t own = cells.size();
  for (std::size_t i = 0; i < own; ++i) {
    if (cells[i].strategy == "single" || cells[i].options.contains("grads")) continue;
    cells.push_back(cells[i]);
    cells.back().options["implementation"] = "torch-2.15.0";
  }
  const std::vector<std::string> names = firsts(cells);
  EXPECT_EQ(names[0], "dp/threads/m/devices:2/batch:8/implementation:torch-2.15.0");
  EXPECT_EQ(names[2], "dp/threads/m/devices:2/batch:512/implementation:torch-2.15.0");
  EXPECT_EQ(names[3], "dp/threads/m/devices:2/batch:8");
}

TEST(Information, EveryCellIsInOneGroup) {
  const std::vector<results::Cell> cells = three_batches();
  std::vector<int> seen(cells.size(), 0);
  for (const CellGroup& group : most_informative_first(cells)) {
    for (const std::size_t cell : group) ++seen[cell];
  }
  EXPECT_EQ(seen, std::vector<int>(cells.size(), 1));
}

TEST(Information, GroupsAreTakenWhole_AndNoneAfterOneThatDoesNotFit) {
  const std::vector<CellGroup> groups{{0, 1}, {2, 3}, {4}};
  const std::vector<int> launches{2, 2, 2, 0, 1};
  const LaunchTimes times(std::vector<Seconds>(5, Seconds{1}));
  EXPECT_TRUE(within(Seconds{3.5}, groups, launches, times).empty());
  EXPECT_EQ(within(Seconds{5.5}, groups, launches, times), (std::vector<CellGroup>{{0, 1}}));
  EXPECT_EQ(within(Seconds{7}, groups, launches, times), groups);
  EXPECT_EQ(within(Seconds{9}, groups, {0, 0, 2, 0, 1}, times),
            (std::vector<CellGroup>{{2, 3}, {4}}));
}

TEST(LaunchTimes, AreACellsOwn_ThenWhatIsExpectedAsLaunchesCorrectIt) {
  LaunchTimes times({Seconds{2}, Seconds{2}, Seconds{10}});
  EXPECT_DOUBLE_EQ(times.of(0).count(), 2);
  EXPECT_DOUBLE_EQ(times.of(2).count(), 10);
  times.add(0, Seconds{4});
  times.add(0, Seconds{6});
  times.add(1, Seconds{8});
  EXPECT_DOUBLE_EQ(times.of(0).count(), 5);
  EXPECT_DOUBLE_EQ(times.of(2).count(), 30);  // launches took 18 s in place of 6
  EXPECT_DOUBLE_EQ(times.total({1, 0, 2}).count(), 65);
}

}  // namespace
}  // namespace tandem::cli
