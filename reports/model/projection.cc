// SPDX-License-Identifier: Apache-2.0
#include "reports/model/projection.h"

#include <algorithm>
#include <cmath>

#include "common/options/strategies.h"
#include "reports/model/subject.h"

namespace tandem::reports {
namespace {

const HeldOut* row_of(const std::vector<HeldOut>& rows, const results::Cell& cell) {
  const auto found =
      std::ranges::find_if(rows, [&](const HeldOut& row) { return row.cell == cell; });
  return found == rows.end() ? nullptr : &*found;
}

}  // namespace

std::array<double, kPathBases.size()> path_by_basis(const std::map<std::string, double>& rests_on) {
  std::array<double, kPathBases.size()> shares{};
  for (const auto& [name, share] : rests_on) {
    const std::string_view basis = std::string_view(name).substr(name.rfind(' ') + 1);
    const auto found = std::ranges::find(kPathBases, basis);
    if (found != kPathBases.end()) {
      shares[static_cast<std::size_t>(found - kPathBases.begin())] += share;
    }
  }
  return shares;
}

SignsTold signs_told(const std::vector<HeldOut>& rows, const std::vector<StrategyPair>& comparisons,
                     double least) {
  SignsTold told;
  for (const StrategyPair& pair : comparisons) {
    const HeldOut* const dp = row_of(rows, pair.dp->cell);
    const HeldOut* const ddp = row_of(rows, pair.ddp->cell);
    const double measured = std::log(pair.ddp_speed.center);
    const bool counts = dp != nullptr && ddp != nullptr &&
                        pair.ddp_verdict != stats::Verdict::kNotResolved &&
                        std::abs(measured) > std::log1p(least);
    if (!counts) continue;
    ++told.pairs;
    const double simulated = std::log(dp->by(Prediction::kSimulated) /  //
                                      ddp->by(Prediction::kSimulated));
    if (simulated * measured > 0) ++told.right;
  }
  return told;
}

double memory_error(const HeldOutMemory& row) {
  return std::abs(static_cast<double>(row.simulated) / static_cast<double>(row.measured) - 1);
}

const HeldOutMemory* worst_memory(const std::vector<HeldOutMemory>& memory) {
  const auto worst = std::ranges::max_element(memory, {}, memory_error);
  return worst == memory.end() ? nullptr : &*worst;
}

void add_intervals(Projection& projection) {
  projection.half_width = half_width(projection.held_out);
  for (const HeldOut& row : projection.held_out) {
    projection.most_measured = std::max(projection.most_measured, row.cell.devices);
  }
  if (!projection.half_width) return;
  for (ProjectedCell& cell : projection.cells) {
    cell.interval = projected_interval(cell.seconds, *projection.half_width, cell.cell.devices,
                                       projection.most_measured);
  }
}

void add_published_intervals(Projection& projection) {
  for (ProjectedCell& cell : projection.cells) {
    for (const PublishedStanding& standing : projection.decisions->standing) {
      if (standing.strategy != cell.cell.strategy) continue;
      cell.interval = projected_interval(cell.seconds, standing.half_width, cell.cell.devices,
                                         standing.most_devices);
    }
  }
}

std::optional<stats::Estimate> speed_over_one_device(const ProjectedCell& cell,
                                                     const Projection& projection) {
  const bool is_whole = projection.decisions && projection.decisions->has_whole_batches;
  const int times = is_whole ? 1 : cell.cell.devices;
  const auto one = std::ranges::find_if(projection.cells, [&](const ProjectedCell& other) {
    return other.cell.strategy == options::name_of(options::StrategyKind::kSingle) &&
           other.cell.global_batch * times == cell.cell.global_batch;
  });
  if (one == projection.cells.end() || cell.cell.devices == 1) return std::nullopt;
  stats::Estimate speed = speed_over(cell, {.cell = {}, .seconds = one->seconds});
  speed.center *= times;
  if (speed.interval) {
    speed.interval = stats::Interval{speed.interval->low * times, speed.interval->high * times};
  }
  return speed;
}

stats::Estimate speed_over(const ProjectedCell& cell, const ProjectedCell& other) {
  stats::Estimate speed{.center = other.seconds / cell.seconds, .interval = {}};
  const auto half_width = [](const ProjectedCell& of) {
    return of.interval ? std::log(of.interval->high / of.seconds) : 0.0;
  };
  if (!cell.interval && !other.interval) return speed;
  speed.interval = interval_around(speed.center, std::hypot(half_width(cell), half_width(other)));
  return speed;
}

const ProjectedCell* cell_beside(const ProjectedCell& cell, std::string_view strategy,
                                 const std::vector<ProjectedCell>& cells) {
  const auto found = std::ranges::find_if(cells, [&](const ProjectedCell& other) {
    return other.cell.strategy == strategy && other.cell.model == cell.cell.model &&
           other.cell.devices == cell.cell.devices &&
           other.cell.global_batch == cell.cell.global_batch &&
           same_question(other.cell, cell.cell);
  });
  return found == cells.end() ? nullptr : &*found;
}

}  // namespace tandem::reports
