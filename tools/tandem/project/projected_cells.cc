// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/project/projected_cells.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "common/base/text.h"
#include "common/options/strategies.h"
#include "reports/model/subject.h"

namespace tandem::cli {
namespace {

using enum options::StrategyKind;
using results::Cell;

constexpr std::chrono::seconds kQuiet{5};  // between two lines of progress

// Options of a machine that is there, which a simulated one does not have.
constexpr std::array kOfThisMachine{"bind", "gpus", "gpu-wait", "oversubscribe", "peak-gflops"};

bool is_projected_strategy(const Cell& cell) {
  return cell.strategy == options::name_of(kDp) || cell.strategy == options::name_of(kDdp);
}

Cell on_devices(Cell cell, int devices, std::int64_t share) {
  cell.devices = devices;
  cell.global_batch = share * devices;
  return cell;
}

std::vector<std::int64_t> shares_of(const Cell& cell, const ProjectionAsked& asked) {
  if (!asked.shares.empty()) return asked.shares;
  return {cell.global_batch / cell.devices};
}

// The cell with each of the asked-for bucket sizes, where it has buckets.
std::vector<Cell> with_buckets(const Cell& cell, const ProjectionAsked& asked) {
  if (asked.bucket_mb.empty() || cell.strategy != options::name_of(kDdp)) return {cell};
  std::vector<Cell> cells;
  for (const std::string& size : asked.bucket_mb) {
    cells.push_back(cell);
    cells.back().options["bucket-mb"] = size;
  }
  return cells;
}

}  // namespace

Cell simulated_cell(const Cell& measured, const ProjectionBasis& basis) {
  Cell cell = measured;
  cell.backend = results::kSimulated;
  for (const char* option : kOfThisMachine) cell.options.erase(option);
  const auto calibration = basis.calibrations.find(reports::precision_of(measured));
  if (calibration != basis.calibrations.end()) {
    cell.options["calibration"] = calibration->second.string();
  }
  if (!basis.hardware.empty()) cell.options["hardware"] = basis.hardware;
  return cell;
}

std::vector<const reports::CellSummary*> cells_to_hold_out(const reports::Summary& summary) {
  std::vector<const reports::CellSummary*> cells;
  for (const reports::CellSummary& cell : summary.cells) {
    const bool counts = cell.launches > 0 && cell.cell.devices > 1 && cell.planted.empty() &&
                        !cell.oversubscribed &&
                        cell.cell.strategy != options::name_of(kIndependent) &&
                        !cell.cell.is_pretended() && !cell.cell.is_simulated() &&
                        reports::implementation_of(cell.cell).empty();
    if (counts) cells.push_back(&cell);
  }
  return cells;
}

std::vector<Cell> cells_to_project(const std::vector<const reports::CellSummary*>& measured,
                                   const ProjectionAsked& asked) {
  std::vector<Cell> cells;
  std::set<std::string> seen;
  for (const reports::CellSummary* const summary : measured) {
    if (!is_projected_strategy(summary->cell)) continue;
    Cell base = summary->cell;
    if (!asked.link.empty()) base.options["link"] = asked.link;
    for (const Cell& cell : with_buckets(base, asked)) {
      for (const std::int64_t share : shares_of(summary->cell, asked)) {
        for (const int devices : asked.devices) {
          const Cell point = on_devices(cell, devices, share);
          if (seen.insert(point.name()).second) cells.push_back(point);
        }
      }
    }
  }
  return cells;
}

const results::LaunchRecord& StepSimulator::step(const Cell& cell) {
  const std::string name = cell.name();
  if (const auto known = known_.find(name); known != known_.end()) return known->second;
  say_where_it_takes_long(cell);
  auto outcome = launcher_.run(cell, 0);
  if (!outcome) throw Interrupted("simulating " + name);
  return known_.emplace(name, std::move(outcome->record)).first->second;
}

std::vector<results::LaunchRecord> StepSimulator::steps(const std::vector<Cell>& cells) {
  std::vector<results::LaunchRecord> records;
  for (const Cell& cell : cells) records.push_back(step(cell));
  return records;
}

void StepSimulator::say_where_it_takes_long(const Cell& cell) {
  const Clock::time_point now = Clock::now();
  if (now - said_ < kQuiet) return;
  said_ = now;
  fmt::print(stderr, "simulated {} in {} s; next: {} on {}, batch {}\n",
             count_text(static_cast<long long>(known_.size()), "step"),
             std::chrono::duration_cast<std::chrono::seconds>(now - began_).count(), cell.strategy,
             count_text(cell.devices, "device"), cell.global_batch);
}

}  // namespace tandem::cli
