// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/run/cell_groups.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "common/options/strategies.h"
#include "reports/model/subject.h"

namespace tandem::cli {
namespace {

using enum options::StrategyKind;

using WorkloadKey = std::tuple<std::string, std::int64_t, std::string>;

// The key holds the total batch, so a batch per device makes a workload for each device count.
WorkloadKey workload_of(const results::Cell& cell) {
  return {cell.model, cell.global_batch, cell.option("precision")};
}

// The order in which places are taken: 0, n - 1, then the middle of each gap, the widest gaps
// first.
std::vector<std::size_t> ranks_of_spread(std::size_t count) {
  std::vector<std::size_t> ranks(count, 0);
  std::size_t next = 0;
  const auto take = [&](std::size_t place) { ranks[place] = next++; };
  if (count > 0) take(0);
  if (count > 1) take(count - 1);
  std::deque<std::pair<std::size_t, std::size_t>> gaps;
  if (count > 2) gaps.emplace_back(0, count - 1);
  while (!gaps.empty()) {
    const auto [low, high] = gaps.front();
    gaps.pop_front();
    const std::size_t middle = (low + high) / 2;
    if (middle == low) continue;
    take(middle);
    gaps.emplace_back(low, middle);
    gaps.emplace_back(middle, high);
  }
  return ranks;
}

// The place of each workload in that spread, with workloads in the order of the sweep.
std::map<WorkloadKey, std::size_t> spread(const std::vector<results::Cell>& cells) {
  std::map<WorkloadKey, std::size_t> places;
  for (const results::Cell& cell : cells) places.try_emplace(workload_of(cell), places.size());
  const std::vector<std::size_t> ranks = ranks_of_spread(places.size());
  for (auto& [workload, place] : places) place = ranks[place];
  return places;
}

int kind_of(const results::Cell& cell) {
  if (!reports::is_plain(cell)) return 3;
  if (cell.strategy == name_of(kDp) || cell.strategy == name_of(kDdp)) return 0;
  return cell.strategy == name_of(kSingle) || cell.strategy == name_of(kIndependent) ? 1 : 2;
}

}  // namespace

std::vector<CellGroup> most_informative_first(const std::vector<results::Cell>& cells) {
  std::map<std::string, int> most;  // the most devices of each model
  for (const results::Cell& cell : cells) {
    int& count = most[cell.model];
    count = std::max(count, cell.devices);
  }
  const std::map<WorkloadKey, std::size_t> workloads = spread(cells);
  // The key is the distance from the most devices, the kind of the cell, and the workload's place.
  std::map<std::tuple<int, int, std::size_t>, CellGroup> groups;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const results::Cell& cell = cells[i];
    const int fewer = cell.strategy == name_of(kSingle) ? 0 : most.at(cell.model) - cell.devices;
    groups[{fewer, kind_of(cell), workloads.at(workload_of(cell))}].push_back(i);
  }
  std::vector<CellGroup> order;
  for (auto& [key, group] : groups) order.push_back(std::move(group));
  return order;
}

std::vector<CellGroup> within(Seconds time, const std::vector<CellGroup>& groups,
                              const std::vector<int>& launches, const LaunchTimes& times) {
  std::vector<CellGroup> taken;
  for (const CellGroup& group : groups) {
    Seconds needed{0};
    for (const std::size_t cell : group) needed += launches[cell] * times.of(cell);
    if (needed == Seconds{0}) continue;
    if (needed > time) break;
    time -= needed;
    taken.push_back(group);
  }
  return taken;
}

}  // namespace tandem::cli
