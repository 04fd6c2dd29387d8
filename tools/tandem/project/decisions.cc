// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/project/decisions.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "common/base/units.h"
#include "common/hardware/catalogue.h"
#include "common/options/strategies.h"
#include "tools/tandem/project/projecting.h"

namespace tandem::cli {
namespace {

using enum options::StrategyKind;
using reports::ProjectedCell;
using results::Cell;

constexpr std::int64_t kMostShare = 1024;  // samples of a device that are tried

// As --link takes it.
std::string link_text(const LinkDescription& link) {
  return fmt::format("{}ns:{:.1f}GBps", link.latency.value.count(), link.bandwidth.value / 1e9);
}

// A change of an option.
struct OptionChange {
  std::string what;
  std::string strategy;  // whose; empty: dp's and ddp's
  std::string option;
  std::string value;
};

bool is_nvlink(const NodeDescription& node) {
  return node.peer_link && node.peer_link->bandwidth.value > node.host_link.bandwidth.value;
}

// What peers have over links such as the node's to the host: the catalogue's of that generation, or
// as copies to the host.
LinkDescription peers_over_pcie(const NodeDescription& node) {
  for (const std::string name : {"pcie-3", "pcie-4", "pcie-5"}) {
    const double bandwidth = catalogued_link(name).bandwidth.value;
    if (bandwidth == node.host_link.bandwidth.value) return catalogued_link("peer-" + name);
  }
  return node.host_link;
}

OptionChange change_of_link(std::string_view what, const LinkDescription& link) {
  return {fmt::format("{} ({:.0f} GB/s)", what, link.bandwidth.value / 1e9), "", "link",
          link_text(link)};
}

OptionChange no_peer_access(const NodeDescription& node) {
  std::string rates;
  if (const auto& staged = node.staged_link) {
    rates = fmt::format(" ({:.0f} GB/s one way, {:.0f} both ways)",
                        staged->one_way.bandwidth.value / 1e9, staged->both_ways.value / 1e9);
  }
  return {"no peer access: through the host" + rates, "", "p2p", "off"};
}

std::vector<OptionChange> changes_of_links(const NodeDescription& node) {
  const LinkDescription pcie = peers_over_pcie(node);
  if (is_nvlink(node)) {
    return {change_of_link("PCIe in place of NVLink", pcie), no_peer_access(node)};
  }
  const OptionChange nvlink = change_of_link("NVLink 3 between all", catalogued_link("nvlink-3"));
  if (node.peer_link) return {nvlink, no_peer_access(node)};
  return {nvlink, change_of_link("peer access over PCIe", pcie)};
}

std::vector<OptionChange> changes_of(const DescribedSteps& steps) {
  std::vector<OptionChange> changes = changes_of_links(steps.machine.hardware.node);
  for (const char* size : {"1", "100"}) {
    changes.push_back({fmt::format("buckets of {} MiB in place of 25", size),
                       std::string(name_of(kDdp)), "bucket-mb", size});
  }
  return changes;
}

void add_change(reports::Projection& projection, const ProjectedCell& base, std::string what,
                Cell changed, StepSimulator& simulator) {
  const results::LaunchRecord& record = simulator.step(changed);
  projection.decisions->changes.push_back({.what = std::move(what),
                                           .base = base,
                                           .cell = std::move(changed),
                                           .seconds = step_seconds(record),
                                           .reason = record.reason});
}

// The most devices of one node that were projected, at the middle one of ddp's batches on them, as
// batches that these devices do not divide are dp's alone; of dp's where ddp has none.
struct Point {
  int devices = 0;
  std::int64_t batch = 0;
};

Point point_of_changes(const reports::Projection& projection, int gpus_of_node) {
  int most = 0;
  std::set<std::int64_t> of_dp;  // batches on the most devices
  std::set<std::int64_t> of_ddp;
  for (const ProjectedCell& projected : projection.cells) {
    const Cell& cell = projected.cell;
    const bool is_ddp = cell.strategy == name_of(kDdp);
    const bool counts = is_ddp || cell.strategy == name_of(kDp);
    if (!counts || cell.devices > gpus_of_node || cell.devices < most) continue;
    if (cell.devices > most) {
      of_dp.clear();
      of_ddp.clear();
    }
    most = cell.devices;
    (is_ddp ? of_ddp : of_dp).insert(cell.global_batch);
  }
  const std::set<std::int64_t>& batches = of_ddp.empty() ? of_dp : of_ddp;
  if (batches.empty()) return {};
  return {most, *std::next(batches.begin(), std::ssize(batches) / 2)};
}

// The base on two nodes in place of the whole one that it fills, where a network joins such nodes.
std::optional<Cell> on_two_nodes(const DescribedSteps& steps, const Cell& base) {
  const std::string& name = steps.machine.name;
  const bool fills_node = base.devices == steps.machine.hardware.node.gpus.value;
  if (is_hardware_file(name) || !fills_node) return std::nullopt;
  const auto [node, network] = node_and_network(name);
  if (network.empty()) return std::nullopt;
  Cell more = base;
  more.devices *= 2;
  if (!steps.has_whole_batches) more.global_batch *= 2;
  more.options["hardware"] = fmt::format("{}x2@{}", node, network);
  return more;
}

// The projected cell of the same step, without options of its own; nullptr where there is none.
const ProjectedCell* projected(const reports::Projection& projection, const Cell& asked) {
  const auto found = std::ranges::find_if(projection.cells, [&](const ProjectedCell& cell) {
    return cell.cell.strategy == asked.strategy && cell.cell.devices == asked.devices &&
           cell.cell.global_batch == asked.global_batch &&
           cell.cell.options.size() == asked.options.size();
  });
  return found == projection.cells.end() ? nullptr : &*found;
}

// The least batch at which the devices take less time than one device does for all of it.
reports::LeastBatch least_batch(const reports::Decisions& decisions, const DescribedSteps& steps,
                                const Cell& shape, StepSimulator& simulator) {
  reports::LeastBatch least{.strategy = shape.strategy, .devices = shape.devices};
  for (std::int64_t share = 1; share <= kMostShare; share *= 2) {
    const std::int64_t batch = share * shape.devices;
    const Cell cell = described_cell(steps, shape.strategy, shape.devices, batch);
    const results::LaunchRecord& together = simulator.step(cell);
    least.reason = together.reason;
    const double seconds = step_seconds(together);
    if (seconds == 0) return least;
    const results::LaunchRecord& alone =
        simulator.step(described_cell(steps, name_of(kSingle), 1, batch));
    least.reason = alone.reason;
    const double alone_seconds = step_seconds(alone);
    const bool does_not_fit = alone.status == results::Status::kSkipped;
    if (alone_seconds == 0 && !does_not_fit) return least;
    least.most_tried = share;
    if (!does_not_fit && alone_seconds <= seconds) continue;
    least.share = share;
    const ProjectedCell paying{
        .cell = cell, .seconds = seconds, .interval = published_interval(decisions, cell, seconds)};
    least.times_as_fast = speed_over(paying, {.cell = {}, .seconds = alone_seconds});
    return least;
  }
  return least;
}

}  // namespace

void add_steps_without_costs(reports::Projection& projection, const DescribedSteps& steps,
                             StepSimulator& simulator) {
  if (steps.costs.empty()) return;
  for (ProjectedCell& cell : projection.cells) {
    Cell bare = cell.cell;
    for (const char* cost : {"dispatch-cost", "interpreter-lock"}) bare.options.erase(cost);
    bare.options["hardware"] = steps.machine.name;  // records name it with a checksum
    const double seconds = step_seconds(simulator.step(bare));
    if (seconds > 0) cell.without_costs = seconds;
  }
}

void add_changes(reports::Projection& projection, const DescribedSteps& steps,
                 StepSimulator& simulator) {
  const Point point = point_of_changes(projection, steps.machine.hardware.node.gpus.value);
  if (point.devices < 2) return;
  const auto cell_of = [&](options::StrategyKind kind) {
    return described_cell(steps, name_of(kind), point.devices, point.batch);
  };
  for (const OptionChange& change : changes_of(steps)) {
    for (const options::StrategyKind kind : {kDp, kDdp}) {
      const ProjectedCell* const base = projected(projection, cell_of(kind));
      const bool is_of_it = change.strategy.empty() || change.strategy == name_of(kind);
      if (base == nullptr || !is_of_it) continue;
      Cell changed = cell_of(kind);
      changed.options[change.option] = change.value;
      add_change(projection, *base, change.what, std::move(changed), simulator);
    }
  }
  const ProjectedCell* const base = projected(projection, cell_of(kDdp));
  if (base == nullptr) return;
  if (auto more = on_two_nodes(steps, cell_of(kDdp))) {
    add_change(projection, *base, "two such nodes", std::move(*more), simulator);
  }
}

void add_least_batches(reports::Projection& projection, const DescribedSteps& steps,
                       const std::vector<int>& devices, StepSimulator& simulator) {
  if (!steps.single_step.empty()) return;
  reports::Decisions& decisions = *projection.decisions;
  for (const int count : devices) {
    for (const options::StrategyKind kind : {kDp, kDdp}) {
      const bool is_on_one_node = count <= steps.machine.hardware.node.gpus.value;
      if (count == 1 || (kind == kDp && !is_on_one_node)) continue;
      const Cell shape = described_cell(steps, name_of(kind), count, count);
      decisions.least_batches.push_back(least_batch(decisions, steps, shape, simulator));
    }
  }
}

}  // namespace tandem::cli
