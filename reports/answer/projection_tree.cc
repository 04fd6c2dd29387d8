// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
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

// What a point is limited by, in the order of its text: the first words of rests_on.
constexpr std::array<std::string_view, 5> kLimits{"operations", "copies", "collectives", "host",
                                                  "waiting"};

std::int64_t share_of(const results::Cell& cell) { return cell.global_batch / cell.devices; }

std::string samples_text(const results::Cell& cell, const Decisions& decisions) {
  const std::string devices = count_text(cell.devices, "device");
  if (decisions.has_whole_batches) return fmt::format("{}, batch {}", devices, cell.global_batch);
  return fmt::format("{}, {} each", devices, count_text(share_of(cell), "sample"));
}

// What a batch is asked for by: the samples of all devices, or of each.
std::int64_t size_of(const results::Cell& cell, const Decisions& decisions) {
  return decisions.has_whole_batches ? cell.global_batch : share_of(cell);
}

// The strategy with the options that are compared; what all cells share stands in the basis.
std::string decision_label(const results::Cell& cell) {
  results::Cell named = cell;
  for (const char* shared : {"calibration", "hardware", "dispatch-cost", "interpreter-lock",
                             "single-step", "precision"}) {
    named.options.erase(shared);
  }
  named.launch = options::usual_launch(named.strategy);
  if (named.strategy == options::name_of(kIndependent)) {
    const std::string parts = named.option("accumulate");
    return parts.empty() ? kNoCommunication
                         : fmt::format("{}, accumulate={}", kNoCommunication, parts);
  }
  named.backend.clear();
  return strategy_label(named);
}

// The shares of the critical path by what limits the step: "operations 84 %, host 16 %".
std::string limits_text(const std::map<std::string, double>& rests_on) {
  std::array<double, kLimits.size()> shares{};
  for (const auto& [name, share] : rests_on) {
    const auto found = std::ranges::find(kLimits, std::string_view(name).substr(0, name.find(' ')));
    if (found != kLimits.end()) shares[static_cast<std::size_t>(found - kLimits.begin())] += share;
  }
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    if (shares[i] >= 0.005)
      parts.push_back(fmt::format("{} {:.0f} %", kLimits[i], 100 * shares[i]));
  }
  return parts.empty() ? "-" : join(parts, ", ");
}

// A ratio of speeds, without digits that say nothing: "3.52 [2.33 .. 5.30]", "992 [593 .. 1660]".
std::string speed_words(const stats::Estimate& speed) {
  constexpr double kLarge = 100;
  return fixed_text(speed, speed.center < kLarge ? 2 : 0, "", 1);
}

std::string speed_text(const ProjectedCell& cell, const ProjectedCell* other) {
  if (other == nullptr || other == &cell) return "-";
  return speed_words(speed_over(cell, *other));
}

std::vector<const ProjectedCell*> in_order(const Projection& projection) {
  std::vector<const ProjectedCell*> rows;
  for (const ProjectedCell& cell : projection.cells) rows.push_back(&cell);
  std::ranges::stable_sort(rows, {}, [&](const ProjectedCell* row) {
    return std::tuple(size_of(row->cell, *projection.decisions), row->cell.devices);
  });
  return rows;
}

std::string one_device_text(const ProjectedCell& cell, const Projection& projection) {
  const auto speed = speed_over_one_device(cell, projection);
  return speed ? speed_words(*speed) : "-";
}

TextTable steps_table(const Projection& projection) {
  const Decisions& decisions = *projection.decisions;
  TextTable table({decisions.has_whole_batches ? ">batch" : ">samples per device", ">devices",
                   "strategy", ">projected step", ">samples per second", ">speed over one device",
                   ">speed over dp", ">of the bound", ">without the interpreter",
                   "what limits it"});
  for (const ProjectedCell* const row : in_order(projection)) {
    const results::Cell& cell = row->cell;
    const bool is_ddp = cell.strategy == options::name_of(kDdp);
    const ProjectedCell* const bound =
        cell_beside(*row, options::name_of(kIndependent), projection.cells);
    table.rows.push_back(
        {std::to_string(size_of(cell, decisions)), std::to_string(cell.devices),
         decision_label(cell), duration_text(step_of(*row, projection)),
         rate_text(static_cast<double>(cell.global_batch) / row->seconds),
         one_device_text(*row, projection),
         is_ddp ? speed_text(*row, cell_beside(*row, options::name_of(kDp), projection.cells))
                : "-",
         bound == nullptr ? "-" : fmt::format("{:.0f} %", 100 * bound->seconds / row->seconds),
         row->without_costs ? duration_text(*row->without_costs) : "-",
         limits_text(row->rests_on)});
  }
  return table;
}

// "use ddp: its speed over dp is 1.90 [1.62 .. 2.23]", or that the errors are too large to decide.
std::string verdict_of(const ProjectedCell& dp, const ProjectedCell& ddp) {
  const stats::Estimate speed = speed_over(ddp, dp);
  const std::string figure = speed_words(speed);
  if (speed.interval && speed.interval->holds(1)) {
    return fmt::format("dp or ddp is not decided: ddp's speed over dp is {}", figure);
  }
  return speed.center > 1 ? fmt::format("use ddp: its speed over dp is {}", figure)
                          : fmt::format("use dp: ddp's speed over it is {}", figure);
}

// "of the bound: ddp 98 %, dp 60 %"; empty without one.
std::string of_bound(const std::vector<const ProjectedCell*>& cells, const Projection& projection) {
  std::vector<std::string> parts;
  for (const ProjectedCell* const cell : cells) {
    const ProjectedCell* const bound =
        cell_beside(*cell, options::name_of(kIndependent), projection.cells);
    if (bound == nullptr) return "";
    parts.push_back(
        fmt::format("{} {:.0f} %", cell->cell.strategy, 100 * bound->seconds / cell->seconds));
  }
  return "of the bound: " + join(parts, ", ");
}

// The sentence's part on one device, and whether it is the faster.
struct AgainstOneDevice {
  std::string words;  // "Over one device on the same batch: ddp 1.68 [..], dp 1.20 [..]"
  bool is_one_faster = false;
};

// Why a cell is not held against one device.
std::string without_one_device(const ProjectedCell& cell, const Projection& projection) {
  const std::int64_t batch = size_of(cell.cell, *projection.decisions);
  const bool does_not_fit = std::ranges::any_of(projection.left_out, [&](const NotProjected& left) {
    return left.cell.strategy == options::name_of(kSingle) && left.cell.global_batch == batch &&
           left.reason.starts_with("out of memory");
  });
  return does_not_fit ? "One device does not take that batch" : "One device could not be simulated";
}

// The fastest of the cells decides whether several devices pay.
AgainstOneDevice against_one_device(const std::vector<const ProjectedCell*>& cells,
                                    const Projection& projection) {
  std::vector<std::string> parts;
  stats::Estimate best;
  for (const ProjectedCell* const cell : cells) {
    const auto speed = speed_over_one_device(*cell, projection);
    if (!speed) return {without_one_device(*cell, projection)};
    parts.push_back(fmt::format("{} {}", cell->cell.strategy, speed_words(*speed)));
    if (speed->center > best.center) best = *speed;
  }
  const bool is_open = best.interval && best.interval->holds(1);
  return {fmt::format("Speed over one device: {}{}", join(parts, ", "),
                      is_open ? "; whether they pay is not decided" : ""),
          !is_open && best.center <= 1};
}

// The cells of a batch that the answer is about: at the most devices that both have, and at the
// most of each.
struct AnsweredCells {
  const ProjectedCell* dp = nullptr;
  const ProjectedCell* ddp = nullptr;  // beside dp
  const ProjectedCell* most_dp = nullptr;
  const ProjectedCell* most_ddp = nullptr;
};

// By the batch, the largest first: a screen may have no room for all.
std::map<std::int64_t, AnsweredCells, std::greater<>> answered_cells(const Projection& projection) {
  std::map<std::int64_t, AnsweredCells, std::greater<>> answered;
  const auto is_more = [](const ProjectedCell& cell, const ProjectedCell* than) {
    return than == nullptr || cell.cell.devices > than->cell.devices;
  };
  for (const ProjectedCell& cell : projection.cells) {
    const bool is_ddp = cell.cell.strategy == options::name_of(kDdp);
    if (cell.cell.devices == 1 || (!is_ddp && cell.cell.strategy != options::name_of(kDp)))
      continue;
    AnsweredCells& cells = answered[size_of(cell.cell, *projection.decisions)];
    const ProjectedCell*& most = is_ddp ? cells.most_ddp : cells.most_dp;
    if (is_more(cell, most)) most = &cell;
    const ProjectedCell* const dp =
        is_ddp ? cell_beside(cell, options::name_of(kDp), projection.cells) : nullptr;
    if (dp == nullptr || !is_more(cell, cells.ddp)) continue;
    cells.dp = dp;
    cells.ddp = &cell;
  }
  return answered;
}

// For a batch that does not fit, the largest batch that does, where one is known. A projection has
// no --device-memory to raise.
std::string shortened(std::string reason) {
  if (constexpr std::string_view kProgram = "step_bench: "; reason.starts_with(kProgram)) {
    reason.erase(0, kProgram.size());
  }
  constexpr std::string_view kRaise = ", or raise --device-memory";
  if (const std::size_t raise = reason.find(kRaise); raise != std::string::npos) {
    reason.erase(raise, kRaise.size());
  }
  const std::size_t largest = reason.find("the largest batch that fits");
  if (!reason.starts_with("out of memory") || largest == std::string::npos) return reason;
  return "does not fit; " + reason.substr(largest);
}

// Why a cell is left out, and what to do.
std::string reason_of(const NotProjected& left) {
  const results::Cell& asked = left.cell;
  const bool is_uneven =
      asked.strategy != options::name_of(kDp) && asked.global_batch % asked.devices != 0;
  if (!is_uneven) return shortened(left.reason);
  return fmt::format("{} do not divide it; take a multiple of {}",
                     count_text(asked.devices, "device"), asked.devices);
}

constexpr std::string_view kStepWords =
    "Speed over one device: in samples per second, over single on as many samples as a device has, "
    "or on the same batch where batches are of all devices. Intervals: the errors on published "
    "steps, which nine in ten stay below, given the step of one device, which has one of its own "
    "where it is described; as wide again with each doubling beyond the devices of those steps. "
    "Clocks, skew among ranks and contention beyond the description are in them as far as those "
    "systems had them. Of the bound: its step over this one. Without the interpreter: the "
    "same step if PyTorch's work on the host cost nothing. What limits it: shares of the critical "
    "path.";

constexpr std::string_view kLimitsWords =
    "What limits it: shares of the critical path, the chain of work that the step is as long as; "
    "results.json has them by what their times rest on, too (rests_on).";

Section held_out_section(const Projection& projection) {
  Section section(
      Heading{"held-out", "Held out: each measured cell, predicted from what is not that cell"});
  TextTable table({"cell", ">measured step", ">projected", ">projected / measured"});
  for (const HeldOutCell& held_out : projection.held_out) {
    table.rows.push_back({held_out.cell.name(), duration_text(held_out.measured),
                          duration_text(held_out.projected_seconds),
                          fmt::format("{:.3f}", held_out.projected_seconds /  //
                                                    held_out.measured.center)});
  }
  section.add(Table{.table = std::move(table), .caption = section.title});
  const RankingAccuracy& ranking = projection.ranking;
  if (ranking.pairs == 0) return section;
  return section.say(fmt::format(
      "The faster of dp and ddp is predicted correctly in {} of {} comparisons that are resolved "
      "and beyond 5 %.",
      ranking.correct, ranking.pairs));
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

TextTable projected_table(const Projection& projection) {
  TextTable table({"model", ">samples per device", ">devices", "strategy", ">projected step",
                   ">speed over dp", "what limits it"});
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
                          times_as_fast(*row, projection.cells), limits_text(row->rests_on)});
  }
  return table;
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

// "dp alone (ddp: 4 devices do not divide it; take a multiple of 4)".
std::string alone_text(const ProjectedCell& cell, const Projection& projection) {
  const auto other = options::name_of(cell.cell.strategy == options::name_of(kDp) ? kDdp : kDp);
  const auto left = std::ranges::find_if(projection.left_out, [&](const NotProjected& one) {
    return one.cell.strategy == other && one.cell.devices == cell.cell.devices &&
           one.cell.global_batch == cell.cell.global_batch;
  });
  return fmt::format(
      "{} alone ({}: {})", cell.cell.strategy, other,
      left == projection.left_out.end() ? "one process, on one node" : reason_of(*left));
}

std::vector<std::string> projected_answers(const Projection& projection) {
  std::vector<std::string> lines;
  const auto add = [&](const std::vector<const ProjectedCell*>& cells, const std::string& verdict) {
    const AgainstOneDevice one = against_one_device(cells, projection);
    std::vector<std::string> parts{one.words};
    parts.push_back(of_bound(cells, projection));
    std::erase(parts, "");
    lines.push_back(
        fmt::format("{}: {}{}. {}.", samples_text(cells.front()->cell, *projection.decisions),
                    one.is_one_faster ? "use one device; else " : "", verdict, join(parts, "; ")));
  };
  for (const auto& [size, cells] : answered_cells(projection)) {
    if (cells.dp != nullptr) add({cells.ddp, cells.dp}, verdict_of(*cells.dp, *cells.ddp));
    const int both = cells.dp == nullptr ? 0 : cells.dp->cell.devices;
    for (const ProjectedCell* const most : {cells.most_dp, cells.most_ddp}) {
      if (most == nullptr || most->cell.devices <= both) continue;
      add({most}, alone_text(*most, projection));
    }
  }
  if (!lines.empty()) return lines;
  for (const ProjectedCell& cell : projection.cells) {
    if (cell.cell.devices > 1) continue;
    const double speed = static_cast<double>(cell.cell.global_batch) / cell.seconds;
    const std::string parts = cell.cell.option("accumulate");
    lines.push_back(fmt::format("{}{}: a step lasts {}, {} samples per second.",
                                samples_text(cell.cell, *projection.decisions),
                                parts.empty() ? "" : ", accumulate=" + parts,
                                duration_text(step_of(cell, projection)), rate_text(speed)));
  }
  return lines;
}

// ddp beside dp at the most devices of each measured model and share.
std::vector<const ProjectedCell*> most_devices(const Projection& projection) {
  std::map<std::pair<std::string, std::int64_t>, const ProjectedCell*> most;
  for (const ProjectedCell& cell : projection.cells) {
    if (cell.cell.strategy != options::name_of(kDdp) || cell.cell.devices == 1 ||
        cell_beside(cell, options::name_of(kDp), projection.cells) == nullptr) {
      continue;
    }
    const ProjectedCell*& found = most[{cell.cell.model, share_of(cell.cell)}];
    if (found == nullptr || cell.cell.devices > found->cell.devices) found = &cell;
  }
  std::vector<const ProjectedCell*> cells;
  for (const auto& [point, cell] : most) cells.push_back(cell);
  std::ranges::reverse(cells);  // the largest first
  return cells;
}

std::vector<std::string> answers_beyond(const Projection& projection) {
  std::vector<std::string> lines;
  for (const ProjectedCell* const ddp : most_devices(projection)) {
    const results::Cell& cell = ddp->cell;
    lines.push_back(
        fmt::format("{}, {}, {} each: {}.", cell.model, count_text(cell.devices, "device"),
                    count_text(share_of(cell), "sample"),
                    verdict_of(*cell_beside(*ddp, options::name_of(kDp), projection.cells), *ddp)));
  }
  return lines;
}

// What was projected, on which machine, by what.
std::string title_of(const Projection& projection) {
  const Decisions& decisions = *projection.decisions;
  return fmt::format("Projected, not measured: {} in {}{} on {}, by {}", projection.source,
                     decisions.precision, decisions.options, decisions.machine,
                     decisions.knows_single_step ? "the step of one device that is given"
                                                 : "a time for each of PyTorch's kernels");
}

// The point that stands for the answer, by its cell of ddp; nullptr without one.
const ProjectedCell* shown_point(const Projection& projection) {
  if (!projection.decisions) {
    const std::vector<const ProjectedCell*> cells = most_devices(projection);
    return cells.empty() ? nullptr : cells.front();
  }
  for (const auto& [size, cells] : answered_cells(projection)) {
    if (cells.ddp != nullptr) return cells.ddp;
  }
  return nullptr;
}

// Its steps, and what limits dp and ddp there.
void add_point(Section& root, const Projection& projection) {
  const ProjectedCell* const ddp = shown_point(projection);
  if (ddp == nullptr) return;
  const ProjectedCell& dp = *cell_beside(*ddp, options::name_of(kDp), projection.cells);
  const std::string point =
      samples_text(ddp->cell, projection.decisions.value_or(Decisions{.gpu = ""}));
  root.say(fmt::format("What limits a step on {}: dp {}; ddp {}.", point, limits_text(dp.rests_on),
                       limits_text(ddp->rests_on)),
           "hint", kEverywhere);
  const std::string& model = projection.decisions ? projection.source : ddp->cell.model;
  Bars bars{.caption = fmt::format("Projected step of {}, {}:", model, point)};
  const auto add = [&](const char* label, const ProjectedCell* cell) {
    if (cell == nullptr) return;
    bars.bars.push_back(
        {.label = label, .length = cell->seconds, .figure = duration_text(cell->seconds)});
  };
  const auto one = std::ranges::find_if(projection.cells, [&](const ProjectedCell& cell) {
    return cell.cell.strategy == options::name_of(kSingle) && cell.cell.model == ddp->cell.model &&
           share_of(cell.cell) == share_of(ddp->cell) &&
           cell.cell.option("accumulate") == ddp->cell.option("accumulate");
  });
  add("one device, its share", one == projection.cells.end() ? nullptr : &*one);
  add("dp", &dp);
  add("ddp", ddp);
  add("bound", cell_beside(*ddp, options::name_of(kIndependent), projection.cells));
  root.add(std::move(bars), kAnswer);
}

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

std::string not_projected_line(const NotProjected& cell, const Decisions& decisions) {
  return fmt::format("{} on {}: {}", decision_label(cell.cell), samples_text(cell.cell, decisions),
                     reason_of(cell));
}

Section tree_of(const Projection& projection) {
  // "Projected, not measured. On ...": what it is, and how sure that is.
  const std::string standing = standing_of(projection);
  const std::size_t end = std::min(standing.find(". "), standing.size() - 1);
  const bool is_described = projection.decisions.has_value();
  Section root(is_described ? title_of(projection) : standing.substr(0, end));
  root.list(is_described ? projected_answers(projection) : answers_beyond(projection), "verdict",
            kEverywhere);
  add_point(root, projection);
  if (!projection.fits.empty()) root.say(projection.fits, "hint", kEverywhere);
  if (end + 2 < standing.size()) root.say(standing.substr(end + 2), "range", kEverywhere);
  if (is_described && !projection.decisions->knows_single_step) {
    root.say(
        "Next: measure a step on one such GPU and give it with --single-step: narrower intervals.",
        "hint", kAnswer);
  }
  std::vector<std::string> basis = projection.basis;
  const auto warnings = std::ranges::stable_partition(
      basis, [](const std::string& line) { return !line.starts_with("! "); });
  for (auto line = warnings.begin(); line != warnings.end(); ++line) line->erase(0, 2);
  root.list({warnings.begin(), warnings.end()}, "notes", kEverywhere);
  root.list({basis.begin(), warnings.begin()}, "breaks");
  if (!projection.held_out.empty()) root.add(held_out_section(projection));
  if (projection.decisions) {
    Section section(Heading{"projected", "Projected steps", kStepWords});
    root.add(section.add(Table{.table = steps_table(projection), .caption = section.title}));
  } else if (!projection.cells.empty()) {
    Section section(Heading{"projected", "Projected"});
    section.say(how_intervals_grow(projection))
        .say(std::string(kLimitsWords))
        .add(Table{.table = projected_table(projection), .caption = section.title});
    root.add(std::move(section));
  }
  return root.add(left_out_section(projection));
}

}  // namespace tandem::reports
