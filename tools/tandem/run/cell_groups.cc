// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/run/cell_groups.h"

#include <algorithm>
#include <cstdint>
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

// The rank of a workload: its place among those of its model, then the model's in the sweep.
using WorkloadRank = std::pair<std::size_t, std::size_t>;

std::map<WorkloadKey, WorkloadRank> ranks_of_workloads(const std::vector<results::Cell>& cells) {
  std::map<std::string, std::size_t> models;
  std::map<std::string, std::size_t> found;  // workloads by model
  std::map<WorkloadKey, WorkloadRank> ranks;
  for (const results::Cell& cell : cells) {
    const std::size_t model = models.try_emplace(cell.model, models.size()).first->second;
    const bool is_new = ranks.try_emplace(workload_of(cell), found[cell.model], model).second;
    if (is_new) ++found[cell.model];
  }
  return ranks;
}

bool is_pair(const results::Cell& cell) {
  return cell.strategy == name_of(kDp) || cell.strategy == name_of(kDdp);
}

bool is_of_torch(const results::Cell& cell) { return !reports::implementation_of(cell).empty(); }

// How far each workload is from its model's most devices, by the nearest cell of another strategy
// than `single`, which is on one device whatever it is the baseline of.
std::map<WorkloadKey, int> distances(const std::vector<results::Cell>& cells,
                                     const std::map<std::string, int>& most) {
  std::map<WorkloadKey, int> least;
  for (const results::Cell& cell : cells) {
    if (cell.strategy == name_of(kSingle)) continue;
    const int fewer = most.at(cell.model) - cell.devices;
    const auto [known, is_new] = least.try_emplace(workload_of(cell), fewer);
    known->second = std::min(known->second, fewer);
  }
  return least;
}

int kind_of(const results::Cell& cell, bool has_torch_pair) {
  const bool is_own = !is_of_torch(cell);
  if (!reports::is_plain(is_own ? cell : reports::own_cell(cell))) return 4;
  if (is_pair(cell) && (is_own || has_torch_pair)) return is_own ? 1 : 0;
  if (!is_own) return 4;
  return cell.strategy == name_of(kSingle) || cell.strategy == name_of(kIndependent) ? 2 : 3;
}

}  // namespace

std::vector<CellGroup> most_informative_first(const std::vector<results::Cell>& cells) {
  std::map<std::string, int> most;  // the most devices of each model
  for (const results::Cell& cell : cells) {
    int& count = most[cell.model];
    count = std::max(count, cell.devices);
  }
  const std::map<WorkloadKey, int> of_single = distances(cells, most);
  const std::map<WorkloadKey, WorkloadRank> workloads = ranks_of_workloads(cells);
  const bool has_torch_pair = std::ranges::any_of(cells, [](const results::Cell& cell) {
    return is_of_torch(cell) && cell.strategy == name_of(kDp);
  });
  // The key is the distance from the most devices, the kind of the cell, and the workload's rank.
  std::map<std::tuple<int, int, WorkloadRank>, CellGroup> groups;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const results::Cell& cell = cells[i];
    int fewer = most.at(cell.model) - cell.devices;
    if (cell.strategy == name_of(kSingle)) {
      const auto found = of_single.find(workload_of(cell));
      fewer = found == of_single.end() ? 0 : found->second;
    }
    groups[{fewer, kind_of(cell, has_torch_pair), workloads.at(workload_of(cell))}].push_back(i);
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
