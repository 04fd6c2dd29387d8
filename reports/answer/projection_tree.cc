// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <tuple>
#include <vector>

#include "common/base/text.h"
#include "common/options/strategies.h"
#include "reports/answer/trees.h"
#include "reports/model/subject.h"
#include "reports/text/format.h"

namespace tandem::reports {
namespace {

using enum options::StrategyKind;

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

std::string ratio_cell(const HeldOut& row, Prediction method) {
  return row.by(method) > 0 ? fmt::format("{:.3f}", row.by(method) / row.measured.center) : "-";
}

TextTable hold_out_table(const Projection& projection) {
  TextTable table({"cell", ">measured step", ">projected", ">projected / measured",
                   ">perfect scaling", ">no overlap", ">cost per call"});
  for (const HeldOut& row : projection.held_out) {
    table.rows.push_back(
        {row.cell.name(), duration_text(row.measured),
         duration_text(row.by(Prediction::kSimulated)), ratio_cell(row, Prediction::kSimulated),
         ratio_cell(row, Prediction::kPerfectScaling), ratio_cell(row, Prediction::kNoOverlap),
         ratio_cell(row, Prediction::kCostPerCall)});
  }
  return table;
}

// The projection's own mean error on the cells that the method predicts.
double own_mean_where(const std::vector<HeldOut>& rows, Prediction method) {
  std::vector<HeldOut> same;
  std::ranges::copy_if(rows, std::back_inserter(same),
                       [&](const HeldOut& row) { return row.by(method) > 0; });
  return error_figures(same, Prediction::kSimulated)->mean;
}

TextTable error_table(const Projection& projection) {
  TextTable table({"method", ">cells", ">mean error", ">90th percentile", ">largest",
                   ">mean beyond the measured intervals", ">largest beyond",
                   ">projected on the same cells"});
  for (std::size_t i = 0; i < kPredictions; ++i) {
    const auto method = static_cast<Prediction>(i);
    const auto errors = error_figures(projection.held_out, method);
    if (!errors) continue;
    const auto beyond = figures_beyond_intervals(projection.held_out, method);
    table.rows.push_back({std::string(kPredictionNames[i]), std::to_string(errors->cells),
                          percent(errors->mean), percent(errors->p90), percent(errors->most),
                          percent(beyond->mean), percent(beyond->most),
                          percent(own_mean_where(projection.held_out, method))});
  }
  return table;
}

// The closed forms that err no more than the simulation does, which then earns its keep by what
// those cannot say.
std::optional<std::string> as_good_as(const Projection& projection) {
  std::vector<std::string> names;
  for (std::size_t i = 1; i < kPredictions; ++i) {
    const auto method = static_cast<Prediction>(i);
    const auto errors = error_figures(projection.held_out, method);
    if (errors && errors->mean <= own_mean_where(projection.held_out, method)) {
      names.emplace_back(kPredictionNames[i]);
    }
  }
  if (names.empty()) return std::nullopt;
  return fmt::format("As good or better on average here: {}.", join(names, ", "));
}

std::vector<std::string> coverage_lines(const Projection& projection) {
  std::vector<std::string> lines;
  for (const FoldCoverage& fold : nested_coverage(projection.held_out)) {
    lines.push_back(fmt::format(
        "Intervals from the errors of other groups, one {} left out at a time: {} of {} measured "
        "steps lie inside; they reach {} up in the median.",
        name_of(fold.fold), fold.inside, fold.cells, percent(std::expm1(fold.median_half_width))));
  }
  return lines;
}

std::vector<std::string> other_checks(const Projection& projection, const SignsTold& signs) {
  std::vector<std::string> lines;
  if (signs.pairs > 0) {
    lines.push_back(fmt::format(
        "The faster of dp and ddp is told right in {} of {} comparisons that are resolved and "
        "beyond 5 %.",
        signs.right, signs.pairs));
  }
  if (const HeldOutMemory* const worst = worst_memory(projection.memory)) {
    lines.push_back(
        fmt::format("A device's peak of memory is told within {} in all {} cells; worst: {}.",
                    percent(memory_error(*worst)), projection.memory.size(), worst->cell.name()));
  }
  return lines;
}

// The cell's name without the files that its times are from, which the basis names.
std::string projected_label(const results::Cell& cell) {
  results::Cell named = cell;
  named.options.erase("calibration");
  named.options.erase("hardware");
  return strategy_label(named);
}

// The speed of a ddp cell over dp's of the same point; "-" where there is none, or one device.
std::string times_as_fast(const ProjectedCell& ddp, const std::vector<ProjectedCell>& cells) {
  const ProjectedCell* const dp = cell_beside(ddp, options::name_of(kDp), cells);
  const bool is_ddp = ddp.cell.strategy == options::name_of(kDdp) && ddp.cell.devices > 1;
  return is_ddp && dp != nullptr ? fmt::format("{:.2f}", dp->seconds / ddp.seconds) : "-";
}

// "62 % measured, 36 % described, 2 % host": what is less than half a percent is left out.
std::string path_text(const std::map<std::string, double>& rests_on) {
  const auto shares = path_by_basis(rests_on);
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    if (shares[i] >= 0.005)
      parts.push_back(fmt::format("{:.0f} % {}", 100 * shares[i], kPathBases[i]));
  }
  return parts.empty() ? "-" : join(parts, ", ");
}

TextTable projected_table(const Projection& projection) {
  TextTable table({"model", ">samples per device", ">devices", "strategy", ">projected step",
                   ">speed over dp", "its critical path"});
  std::vector<const ProjectedCell*> rows;
  for (const ProjectedCell& cell : projection.cells) rows.push_back(&cell);
  const auto place = [](const ProjectedCell* row) {
    const results::Cell& cell = row->cell;
    return std::tuple(cell.model, cell.global_batch / cell.devices, cell.devices);
  };
  std::ranges::stable_sort(rows, {}, place);
  for (const ProjectedCell* const row : rows) {
    const results::Cell& cell = row->cell;
    table.rows.push_back({cell.model, std::to_string(cell.global_batch / cell.devices),
                          std::to_string(cell.devices), projected_label(cell),
                          duration_text({.center = row->seconds, .interval = row->interval}),
                          times_as_fast(*row, projection.cells), path_text(row->rests_on)});
  }
  return table;
}

Section held_out_section(const Projection& projection, const SignsTold& signs) {
  Section section(
      Heading{"held-out", "Held out: each measured cell, predicted from what is not that cell"});
  section.add(Table{.table = hold_out_table(projection), .caption = section.title})
      .add(Table{.table = error_table(projection), .caption = "Errors of each method"});
  if (const auto line = as_good_as(projection)) section.say(*line);
  return section.list(coverage_lines(projection)).list(other_checks(projection, signs));
}

std::string how_intervals_grow(const Projection& projection) {
  if (!projection.half_width) return "";
  const std::size_t cells = projection.held_out.size();
  return fmt::format(
      "Intervals: the step divided and multiplied by {:.2f}, {}, and by as much again with each "
      "doubling beyond {}, which is an assumption. Other buckets and batches widen nothing.",
      std::exp(*projection.half_width),
      cells < kFewestForNinety ? fmt::format("the largest error of {}",
                                             count_text(static_cast<long long>(cells), "cell"))
                               : "which nine in ten errors stay below",
      count_text(projection.most_measured, "device"));
}

constexpr std::string_view kCriticalPath =
    "Critical path: the chain of work that the step is as long as, by what its times rest on. "
    "Described: of a link or a roofline; host: its calls and threads; results.json has it by "
    "operations, copies and collectives (rests_on).";

Section left_out_section(const Projection& projection) {
  Section section(Heading{"left-out", "Not projected"});
  std::vector<std::string> lines;
  for (const NotProjected& cell : projection.left_out) {
    lines.push_back(projection.decisions ? not_projected_line(cell, *projection.decisions)
                                         : fmt::format("{}: {}", cell.cell.name(), cell.reason));
  }
  return section.list(lines);
}

}  // namespace

std::string standing_of(const Projection& projection) {
  if (projection.decisions) return standing_of(*projection.decisions);
  const auto errors = error_figures(projection.held_out, Prediction::kSimulated);
  if (!errors) return "Projected: no measurement stands behind this.";
  return fmt::format(
      "Projected, not measured. On {} measured in {} the method errs by {} on average, by {} at "
      "most; no other system stands behind this.",
      count_text(errors->cells, "cell"), projection.source, percent(errors->mean),
      percent(errors->most));
}

Section tree_of(const Projection& projection, const SignsTold& signs) {
  std::string standing = standing_of(projection);
  standing.pop_back();  // a title has no full stop
  Section root(standing);
  if (projection.decisions) root.list(projected_answers(projection), "verdict");
  root.list(projection.basis, "breaks");
  if (!projection.held_out.empty()) root.add(held_out_section(projection, signs));
  if (projection.decisions) {
    root.add(projected_steps(projection));
  } else if (!projection.cells.empty()) {
    Section section(Heading{"projected", "Projected"});
    section.say(how_intervals_grow(projection))
        .say(std::string(kCriticalPath))
        .add(Table{.table = projected_table(projection), .caption = section.title});
    root.add(std::move(section));
  }
  return root.add(left_out_section(projection));
}

}  // namespace tandem::reports
