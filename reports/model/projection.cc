// SPDX-License-Identifier: Apache-2.0
#include "reports/model/projection.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "common/options/strategies.h"
#include "reports/model/subject.h"

namespace tandem::reports {
namespace {

constexpr double kShareInside = 0.9;

// The errors of steps like the cell's, the last that apply to it; nullptr without any.
const PublishedStanding* standing_behind(const ProjectedCell& cell, const Projection& projection) {
  const PublishedStanding* behind = nullptr;
  for (const PublishedStanding& standing : projection.decisions->standing) {
    const bool applies =
        standing.strategy == cell.cell.strategy && cell.cell.devices > standing.beyond;
    if (applies) behind = &standing;
  }
  return behind;
}

// No step takes less than the one without communication.
void keep_above_bounds(std::vector<ProjectedCell>& cells) {
  for (ProjectedCell& cell : cells) {
    const ProjectedCell* const bound =
        cell_beside(cell, options::name_of(options::StrategyKind::kIndependent), cells);
    if (!cell.interval || bound == nullptr || bound == &cell) continue;
    cell.interval->low = std::clamp(bound->seconds, cell.interval->low, cell.seconds);
  }
}

}  // namespace

double HeldOutCell::error() const { return std::abs(projected_seconds / measured.center - 1); }

std::optional<ErrorFigures> error_figures(const std::vector<HeldOutCell>& cells) {
  if (cells.empty()) return std::nullopt;
  ErrorFigures figures{.cells = static_cast<int>(cells.size())};
  for (const HeldOutCell& cell : cells) {
    figures.mean += cell.error() / figures.cells;
    figures.most = std::max(figures.most, cell.error());
  }
  return figures;
}

std::optional<double> half_width(const std::vector<HeldOutCell>& cells) {
  if (cells.empty()) return std::nullopt;
  std::vector<double> errors;
  for (const HeldOutCell& cell : cells) {
    errors.push_back(std::abs(std::log(cell.projected_seconds / cell.measured.center)));
  }
  std::ranges::sort(errors);
  const auto wanted =
      static_cast<std::size_t>(std::ceil(kShareInside * static_cast<double>(errors.size() + 1)));
  return std::max(errors[std::min(wanted, errors.size()) - 1], kLeastHalfWidth);
}

double projected_half_width(double half_width, int devices, int most_measured) {
  const double doublings =
      devices > most_measured ? std::log2(static_cast<double>(devices) / most_measured) : 0;
  return half_width * (1 + doublings);
}

stats::Interval interval_around(double figure, double half_width, double other) {
  const double factor = std::exp(std::hypot(half_width, other));
  return {figure / factor, figure * factor};
}

stats::Interval projected_interval(double seconds, double half_width, int devices,
                                   int most_measured) {
  return interval_around(seconds, projected_half_width(half_width, devices, most_measured));
}

void add_intervals(Projection& projection) {
  projection.half_width = half_width(projection.held_out);
  for (const HeldOutCell& held_out : projection.held_out) {
    projection.most_measured = std::max(projection.most_measured, held_out.cell.devices);
  }
  if (!projection.half_width) return;
  for (ProjectedCell& cell : projection.cells) {
    cell.interval = projected_interval(cell.seconds, *projection.half_width, cell.cell.devices,
                                       projection.most_measured);
  }
  keep_above_bounds(projection.cells);
}

void add_published_intervals(Projection& projection) {
  std::vector<PublishedStanding> used;
  for (const PublishedStanding& standing : projection.decisions->standing) {
    // The error of one device's step is in the steps of several as well.
    bool is_used = standing.strategy == options::name_of(options::StrategyKind::kSingle);
    for (ProjectedCell& cell : projection.cells) {
      if (standing_behind(cell, projection) != &standing) continue;
      is_used = true;
      cell.interval = projected_interval(cell.seconds, standing.half_width, cell.cell.devices,
                                         standing.most_devices);
    }
    if (is_used) used.push_back(standing);
  }
  projection.decisions->standing = std::move(used);
  keep_above_bounds(projection.cells);
}

stats::Estimate step_of(const ProjectedCell& cell, const Projection& projection) {
  stats::Estimate step{.center = cell.seconds, .interval = cell.interval};
  if (!projection.decisions) return step;
  for (const PublishedStanding& standing : projection.decisions->standing) {
    const bool is_of_one = standing.strategy == options::name_of(options::StrategyKind::kSingle);
    if (!is_of_one || cell.cell.devices == 1) continue;
    const double own = cell.interval ? std::log(cell.interval->high / cell.seconds) : 0;
    step.interval = interval_around(cell.seconds, own, standing.half_width);
  }
  return step;
}

std::optional<stats::Estimate> speed_over_one_device(const ProjectedCell& cell,
                                                     const Projection& projection) {
  const bool is_whole = projection.decisions && projection.decisions->has_whole_batches;
  const int times = is_whole ? 1 : cell.cell.devices;
  const auto one = std::ranges::find_if(projection.cells, [&](const ProjectedCell& other) {
    return other.cell.strategy == options::name_of(options::StrategyKind::kSingle) &&
           other.cell.global_batch * times == cell.cell.global_batch &&
           other.cell.option("accumulate") == cell.cell.option("accumulate");
  });
  if (one == projection.cells.end() || cell.cell.devices == 1) return std::nullopt;
  const double work = one->seconds * times;
  stats::Estimate speed{.center = work / cell.seconds, .interval = {}};
  if (cell.interval) {
    speed.interval = stats::Interval{work / cell.interval->high, work / cell.interval->low};
  }
  return speed;
}

stats::Estimate speed_over(const ProjectedCell& cell, const ProjectedCell& other) {
  stats::Estimate speed{.center = other.seconds / cell.seconds, .interval = {}};
  const auto half_width = [](const ProjectedCell& of) {
    return of.interval ? std::log(of.interval->high / of.seconds) : 0.0;
  };
  if (!cell.interval && !other.interval) return speed;
  speed.interval = interval_around(speed.center, half_width(cell), half_width(other));
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
