// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/project/decisions.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "common/base/units.h"
#include "common/hardware/catalogue.h"
#include "common/options/strategies.h"
#include "tools/tandem/project/projected_cells.h"
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

std::vector<OptionChange> changes_of_links(const NodeDescription& node) {
  const std::string pcie = link_text(node.host_link);  // peers over PCIe, as copies to the host
  const std::string rate = fmt::format(" ({:.0f} GB/s)", node.host_link.bandwidth.value / 1e9);
  if (is_nvlink(node)) {
    return {{"PCIe in place of NVLink" + rate, "", "link", pcie},
            {"no peer access: through the host", "", "p2p", "off"}};
  }
  const LinkDescription link = catalogued_link("nvlink-3");
  const OptionChange nvlink{
      fmt::format("NVLink 3 between all ({:.0f} GB/s)", link.bandwidth.value / 1e9), "", "link",
      link_text(link)};
  if (node.peer_link) return {nvlink, {"no peer access: through the host", "", "p2p", "off"}};
  return {nvlink, {"peer access over PCIe" + rate, "", "link", pcie}};
}

std::vector<OptionChange> changes_of(const DescribedSteps& steps) {
  std::vector<OptionChange> changes = changes_of_links(steps.machine.hardware.node);
  for (const char* size : {"1", "100"}) {
    changes.push_back({fmt::format("buckets of {} MiB in place of 25", size),
                       std::string(name_of(kDdp)), "bucket-mb", size});
  }
  if (!steps.costs.empty()) {
    changes.push_back({"threads without a shared lock (simulated; no published step tells it)",
                       std::string(name_of(kDp)), "interpreter-lock", "off"});
  }
  return changes;
}

void add_change(reports::Projection& projection, const ProjectedCell& base, std::string what,
                Cell changed, const Launcher& launcher) {
  const results::LaunchRecord record = simulate({changed}, launcher).front();
  projection.decisions->changes.push_back({.what = std::move(what),
                                           .base = base,
                                           .cell = std::move(changed),
                                           .seconds = step_seconds(record),
                                           .reason = record.reason});
}

// The most devices of one node that were projected, at the middle one of the shares.
struct Point {
  int devices = 0;
  std::int64_t share = 0;
};

Point point_of_changes(const reports::Projection& projection, int gpus_of_node) {
  Point point;
  std::vector<std::int64_t> shares;
  for (const ProjectedCell& cell : projection.cells) {
    if (cell.cell.devices <= gpus_of_node)
      point.devices = std::max(point.devices, cell.cell.devices);
    shares.push_back(cell.cell.global_batch / cell.cell.devices);
  }
  std::ranges::sort(shares);
  const auto [end, last] = std::ranges::unique(shares);
  shares.erase(end, last);
  if (!shares.empty()) point.share = shares[shares.size() / 2];
  return point;
}

// The base on two nodes in place of the whole one that it fills, where a network joins such nodes.
std::optional<Cell> on_two_nodes(const DescribedSteps& steps, const Cell& base) {
  const std::string& name = steps.machine.name;
  const bool fills_node = base.devices == steps.machine.hardware.node.gpus.value;
  if (is_hardware_file(name) || !fills_node) return std::nullopt;
  const std::size_t at = name.find('@');
  const std::string node = at == std::string::npos ? name : name.substr(0, name.rfind('x', at));
  const std::string network = at == std::string::npos ? usual_network(name) : name.substr(at + 1);
  if (network.empty()) return std::nullopt;
  Cell more = base;
  more.devices *= 2;
  more.global_batch *= 2;
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

// A simulated step, or why there is none.
struct KnownStep {
  double seconds = 0;
  results::Status status{};
  std::string reason{};
};

// Steps that were simulated once, by the names of their cells.
class KnownSteps {
 public:
  explicit KnownSteps(const Launcher& launcher) : launcher_(launcher) {}

  [[nodiscard]] const KnownStep& step(const Cell& cell) {
    const auto [place, is_new] = known_.try_emplace(cell.name());
    if (is_new) {
      const results::LaunchRecord record = simulate({cell}, launcher_).front();
      place->second = {step_seconds(record), record.status, record.reason};
    }
    return place->second;
  }

 private:
  const Launcher& launcher_;
  std::map<std::string, KnownStep> known_{};
};

reports::LeastBatch least_batch(const DescribedSteps& steps, options::StrategyKind strategy,
                                int devices, KnownSteps& known) {
  reports::LeastBatch least{.strategy = std::string(name_of(strategy)), .devices = devices};
  for (std::int64_t share = 1; share <= kMostShare; share *= 2) {
    const KnownStep& together =
        known.step(described_cell(steps, name_of(strategy), devices, share));
    least.reason = together.reason;
    if (together.seconds == 0) return least;
    const KnownStep& alone =
        known.step(described_cell(steps, name_of(kSingle), 1, share * devices));
    least.reason = alone.reason;
    const bool does_not_fit = alone.status == results::Status::kSkipped;
    if (alone.seconds == 0 && !does_not_fit) return least;
    least.most_tried = share;
    if (!does_not_fit && alone.seconds <= together.seconds) continue;
    least.share = share;
    least.times_as_fast = alone.seconds / together.seconds;
    return least;
  }
  return least;
}

}  // namespace

void add_steps_without_costs(reports::Projection& projection, const DescribedSteps& steps,
                             const Launcher& launcher) {
  if (steps.costs.empty()) return;
  for (ProjectedCell& cell : projection.cells) {
    Cell bare = without_costs(cell.cell);
    bare.options["hardware"] = steps.machine.name;  // records name it with a checksum
    const double seconds = step_seconds(simulate({bare}, launcher).front());
    if (seconds > 0) cell.without_costs = seconds;
  }
}

void add_changes(reports::Projection& projection, const DescribedSteps& steps,
                 const Launcher& launcher) {
  const Point point = point_of_changes(projection, steps.machine.hardware.node.gpus.value);
  if (point.devices < 2) return;
  const auto cell_of = [&](options::StrategyKind kind) {
    return described_cell(steps, name_of(kind), point.devices, point.share);
  };
  for (const OptionChange& change : changes_of(steps)) {
    for (const options::StrategyKind kind : {kDp, kDdp}) {
      const ProjectedCell* const base = projected(projection, cell_of(kind));
      const bool is_of_it = change.strategy.empty() || change.strategy == name_of(kind);
      if (base == nullptr || !is_of_it) continue;
      Cell changed = cell_of(kind);
      changed.options[change.option] = change.value;
      add_change(projection, *base, change.what, std::move(changed), launcher);
    }
  }
  const ProjectedCell* const base = projected(projection, cell_of(kDdp));
  if (base == nullptr) return;
  if (auto more = on_two_nodes(steps, cell_of(kDdp))) {
    add_change(projection, *base, "two such nodes", std::move(*more), launcher);
  }
}

void add_least_batches(reports::Projection& projection, const DescribedSteps& steps,
                       const std::vector<int>& devices, const Launcher& launcher) {
  if (!steps.single_step.empty()) return;
  KnownSteps known(launcher);
  for (const int count : devices) {
    for (const options::StrategyKind kind : {kDp, kDdp}) {
      const bool is_on_one_node = count <= steps.machine.hardware.node.gpus.value;
      if (count == 1 || (kind == kDp && !is_on_one_node)) continue;
      projection.decisions->least_batches.push_back(least_batch(steps, kind, count, known));
    }
  }
}

}  // namespace tandem::cli
