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

// What a point is limited by, in the order of its text: the first words of rests_on, and those that
// a screen explains by themselves.
constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kLimits{
    {{"operations", "computing"},
     {"copies", "copying data"},
     {"collectives", "communication"},
     {"host", "issuing work (CPU)"}}};

std::int64_t share_of(const results::Cell& cell) { return cell.global_batch / cell.devices; }

bool has_whole_batches(const Projection& projection) {
  return projection.decisions && projection.decisions->has_whole_batches;
}

std::string samples_text(const results::Cell& cell, const Projection& projection) {
  const std::string devices = count_text(cell.devices, "device");
  if (has_whole_batches(projection)) return fmt::format("{}, batch {}", devices, cell.global_batch);
  return fmt::format("{}, {} each", devices, count_text(share_of(cell), "sample"));
}

// What a batch is asked for by: the samples of all devices, or of each.
std::int64_t size_of(const results::Cell& cell, const Projection& projection) {
  return has_whole_batches(projection) ? cell.global_batch : share_of(cell);
}

// The strategy with the options that are compared; what all cells share stands in the basis.
std::string decision_label(const results::Cell& cell, const Projection& projection) {
  results::Cell named = cell;
  if (projection.decisions) named.options.erase("precision");
  for (const char* shared :
       {"calibration", "hardware", "dispatch-cost", "interpreter-lock", "single-step"}) {
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

// The shares of the critical path by what limits the step: "computing 84 %, copying data 16 %".
std::string limits_text(const std::map<std::string, double>& rests_on) {
  std::array<double, kLimits.size()> shares{};
  for (const auto& [name, share] : rests_on) {
    const auto found = std::ranges::find(kLimits, std::string_view(name).substr(0, name.find(' ')),
                                         &std::pair<std::string_view, std::string_view>::first);
    if (found != kLimits.end()) shares[static_cast<std::size_t>(found - kLimits.begin())] += share;
  }
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    if (shares[i] >= 0.005)
      parts.push_back(fmt::format("{} {:.0f} %", kLimits[i].second, 100 * shares[i]));
  }
  return parts.empty() ? "-" : join(parts, ", ");
}

// A ratio of speeds, without digits that say nothing: "3.52 [2.33 .. 5.30]", "992 [593 .. 1660]".
std::string speed_words(const stats::Estimate& speed) {
  constexpr double kLarge = 100;
  return fixed_text(speed, speed.center < kLarge ? 2 : 0, "", 1);
}

std::string over_one_device(const ProjectedCell& cell, const Projection& projection) {
  const auto speed = speed_over_one_device(cell, projection);
  return speed ? speed_words(*speed) : "-";
}

// ddp's over dp's on several devices.
std::string over_dp(const ProjectedCell& cell, const Projection& projection) {
  const ProjectedCell* const dp = cell_beside(cell, options::name_of(kDp), projection.cells);
  const bool is_ddp = cell.cell.strategy == options::name_of(kDdp) && cell.cell.devices > 1;
  return is_ddp && dp != nullptr ? speed_words(speed_over(cell, *dp)) : "-";
}

// The bound's step over the cell's; a dash without a bound.
std::string share_of_bound(const ProjectedCell& cell, const Projection& projection) {
  const ProjectedCell* const bound =
      cell_beside(cell, options::name_of(kIndependent), projection.cells);
  return bound == nullptr ? "-" : fmt::format("{:.0f} %", 100 * bound->seconds / cell.seconds);
}

// A folder's cells have neither single nor a bound beside them, and may be of several models.
TextTable steps_table(const Projection& projection) {
  using Row = const ProjectedCell&;
  std::vector<const ProjectedCell*> cells;
  for (Row cell : projection.cells) cells.push_back(&cell);
  std::ranges::stable_sort(cells, {}, [&](const ProjectedCell* row) {
    return std::tuple(row->cell.model, size_of(row->cell, projection), row->cell.devices);
  });
  TextTable table;
  table.rows.resize(cells.size());
  const auto add = [&](const char* title, const auto& text) {
    table.add_columns({title});
    for (std::size_t i = 0; i < cells.size(); ++i) table.rows[i].push_back(text(*cells[i]));
  };
  const bool is_described = projection.decisions.has_value();
  if (!is_described) add("model", [](Row row) { return row.cell.model; });
  add(has_whole_batches(projection) ? ">batch" : ">samples per device",
      [&](Row row) { return std::to_string(size_of(row.cell, projection)); });
  add(">devices", [](Row row) { return std::to_string(row.cell.devices); });
  add("strategy", [&](Row row) { return decision_label(row.cell, projection); });
  add(">projected step", [&](Row row) { return duration_text(step_of(row, projection)); });
  add(">samples per second",
      [](Row row) { return rate_text(static_cast<double>(row.cell.global_batch) / row.seconds); });
  if (is_described)
    add(">speed over one device", [&](Row row) { return over_one_device(row, projection); });
  add(">speed over dp", [&](Row row) { return over_dp(row, projection); });
  if (is_described) add(">of the bound", [&](Row row) { return share_of_bound(row, projection); });
  add("what limits it", [](Row row) { return limits_text(row.rests_on); });
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
    const std::string share = share_of_bound(*cell, projection);
    if (share == "-") return "";
    parts.push_back(fmt::format("{} {}", cell->cell.strategy, share));
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
  if (!projection.decisions) return "";  // a folder's projection has no cell of single
  const std::int64_t batch = size_of(cell.cell, projection);
  const bool does_not_fit = std::ranges::any_of(projection.left_out, [&](const NotProjected& left) {
    return left.cell.strategy == options::name_of(kSingle) && left.cell.global_batch == batch &&
           left.reason.starts_with("out of memory");
  });
  return does_not_fit ? "One device does not take that batch" : "One device could not be simulated";
}

// The fastest of the cells decides whether several devices are faster.
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
                      is_open ? "; whether several devices are faster is not decided" : ""),
          !is_open && best.center <= 1};
}

// The cells of a batch that the answer is about: at the most devices that both have, and at the
// most of each.
struct AnsweredCells {
  const ProjectedCell* dp = nullptr;
  const ProjectedCell* ddp = nullptr;  // beside dp
  const ProjectedCell* most_dp = nullptr;
  const ProjectedCell* most_ddp = nullptr;
  const NotProjected* most_left_out = nullptr;  // of both

  [[nodiscard]] int devices() const {
    const auto of = [](const ProjectedCell* cell) {
      return cell == nullptr ? 0 : cell->cell.devices;
    };
    return std::max(of(most_dp), of(most_ddp));
  }
};

bool is_answered(const results::Cell& cell) {
  return cell.devices > 1 &&
         (cell.strategy == options::name_of(kDp) || cell.strategy == options::name_of(kDdp));
}

// By the model and the batch, the largest first: a screen may have no room for all.
using Answered = std::map<std::pair<std::string, std::int64_t>, AnsweredCells, std::greater<>>;

Answered answered_cells(const Projection& projection) {
  Answered answered;
  const auto place = [&](const results::Cell& cell) {
    return std::pair(cell.model + precision_suffix(cell), size_of(cell, projection));
  };
  const auto is_more = [](const ProjectedCell& cell, const ProjectedCell* than) {
    return than == nullptr || cell.cell.devices > than->cell.devices;
  };
  for (const ProjectedCell& cell : projection.cells) {
    const bool is_ddp = cell.cell.strategy == options::name_of(kDdp);
    if (!is_answered(cell.cell)) continue;
    AnsweredCells& cells = answered[place(cell.cell)];
    const ProjectedCell*& most = is_ddp ? cells.most_ddp : cells.most_dp;
    if (is_more(cell, most)) most = &cell;
    const ProjectedCell* const dp =
        is_ddp ? cell_beside(cell, options::name_of(kDp), projection.cells) : nullptr;
    if (dp == nullptr || !is_more(cell, cells.ddp)) continue;
    cells.dp = dp;
    cells.ddp = &cell;
  }
  for (const NotProjected& left : projection.left_out) {
    if (!is_answered(left.cell)) continue;
    const NotProjected*& most = answered[place(left.cell)].most_left_out;
    if (most == nullptr || left.cell.devices >= most->cell.devices) most = &left;
  }
  return answered;
}

// For a batch that does not fit, the largest batch that does, where one is known.
std::string shortened(std::string reason) {
  if (constexpr std::string_view kProgram = "step_bench: "; reason.starts_with(kProgram)) {
    reason.erase(0, kProgram.size());
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
    "systems had them. Of the bound: its step over this one.";

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
  return section.add(Table{.table = std::move(table), .caption = section.title});
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
  const char* const without = cell.cell.option("accumulate").empty()
                                  ? "one process, on one node"
                                  : "not projected in micro-batches";
  return fmt::format("{} alone ({}: {})", cell.cell.strategy, other,
                     left == projection.left_out.end() ? without : reason_of(*left));
}

std::vector<std::string> projected_answers(const Projection& projection) {
  std::vector<std::string> lines;
  const auto point = [&](const results::Cell& cell) {
    return (projection.decisions ? "" : cell.model + precision_suffix(cell) + ", ") +
           samples_text(cell, projection);
  };
  const auto add = [&](const std::vector<const ProjectedCell*>& cells, const std::string& verdict) {
    const AgainstOneDevice one = against_one_device(cells, projection);
    std::vector<std::string> parts{one.words};
    parts.push_back(of_bound(cells, projection));
    std::erase(parts, "");
    lines.push_back(fmt::format("{}: {}{}.{}", point(cells.front()->cell),
                                one.is_one_faster ? "use one device; else " : "", verdict,
                                parts.empty() ? "" : " " + join(parts, "; ") + "."));
  };
  bool has_several = false;
  for (const auto& [size, cells] : answered_cells(projection)) {
    has_several |= cells.devices() > 0;
    const NotProjected* const left = cells.most_left_out;
    if (left != nullptr && left->cell.devices > cells.devices()) {
      lines.push_back(fmt::format("{}: neither dp nor ddp ({}: {}).", point(left->cell),
                                  left->cell.strategy, reason_of(*left)));
    }
    if (cells.dp != nullptr) add({cells.ddp, cells.dp}, verdict_of(*cells.dp, *cells.ddp));
    const int both = cells.dp == nullptr ? 0 : cells.dp->cell.devices;
    for (const ProjectedCell* const most : {cells.most_dp, cells.most_ddp}) {
      if (most == nullptr || most->cell.devices <= both) continue;
      add({most}, alone_text(*most, projection));
    }
  }
  for (const ProjectedCell& cell : projection.cells) {
    if (has_several || cell.cell.devices > 1 || !projection.decisions) continue;
    const double speed = static_cast<double>(cell.cell.global_batch) / cell.seconds;
    const std::string parts = cell.cell.option("accumulate");
    lines.push_back(fmt::format("{}{}: a step lasts {}, {} samples per second.", point(cell.cell),
                                parts.empty() ? "" : ", accumulate=" + parts,
                                duration_text(step_of(cell, projection)), rate_text(speed)));
  }
  return lines;
}

// What was projected, on which machine, by what.
std::string subject_of(const Projection& projection) {
  const Decisions& decisions = *projection.decisions;
  return fmt::format("{} in {}{} on {}, by {}", projection.source, decisions.precision,
                     decisions.options, decisions.machine,
                     decisions.knows_single_step ? "the step of one device that is given"
                     : decisions.lists_kernels   ? "a time for each of PyTorch's kernels"
                                                 : "products in place of its kernels");
}

// The point that stands for the answer, by its cell of ddp, beside dp or alone; nullptr without
// one.
const ProjectedCell* shown_point(const Projection& projection) {
  for (const auto& [size, cells] : answered_cells(projection)) {
    const ProjectedCell* const ddp = cells.ddp == nullptr ? cells.most_ddp : cells.ddp;
    if (ddp != nullptr) return ddp;
  }
  return nullptr;
}

// What limits dp and ddp at the point; empty without one.
std::string limits_sentence(const Projection& projection) {
  const ProjectedCell* const ddp = shown_point(projection);
  if (ddp == nullptr) return "";
  const ProjectedCell* const dp = cell_beside(*ddp, options::name_of(kDp), projection.cells);
  const std::string of =
      projection.decisions ? "" : " of " + ddp->cell.model + precision_suffix(ddp->cell);
  return fmt::format("What limits a step{} on {}: {}ddp {}.", of,
                     samples_text(ddp->cell, projection),
                     dp == nullptr ? "" : fmt::format("dp {}; ", limits_text(dp->rests_on)),
                     limits_text(ddp->rests_on));
}

// The steps at the point.
void add_bars(Section& root, const Projection& projection) {
  const ProjectedCell* const ddp = shown_point(projection);
  if (ddp == nullptr) return;
  const std::string& model = projection.decisions ? projection.source : ddp->cell.model;
  Bars bars{.caption = fmt::format("Projected step of {}, {}:", model,
                                   samples_text(ddp->cell, projection))};
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
  add("dp", cell_beside(*ddp, options::name_of(kDp), projection.cells));
  add("ddp", ddp);
  add(kNoCommunication, cell_beside(*ddp, options::name_of(kIndependent), projection.cells));
  root.add(std::move(bars), kAnswer);
}

Section left_out_section(const Projection& projection) {
  Section section(Heading{"left-out", "Not projected"});
  std::vector<std::string> lines;
  for (const NotProjected& cell : projection.left_out) {
    lines.push_back(not_projected_line(cell, projection));
  }
  return section.list(lines);
}

}  // namespace

std::string not_projected_line(const NotProjected& cell, const Projection& projection) {
  if (!projection.decisions) return fmt::format("{}: {}", cell.cell.name(), cell.reason);
  return fmt::format("{} on {}: {}", decision_label(cell.cell, projection),
                     samples_text(cell.cell, projection), reason_of(cell));
}

std::vector<std::string> answer_of(const Projection& projection) {
  std::vector<std::string> lines = projected_answers(projection);
  std::vector<std::string> facts{limits_sentence(projection), projection.fits};
  std::erase(facts, "");
  lines.insert(lines.begin(),
               {projection.decisions ? subject_of(projection) + "." : "", join(facts, " ")});
  return lines;
}

Section tree_of(const Projection& projection) {
  // "Projected, not measured. On ...": what it is, and how sure that is.
  const std::string standing = standing_of(projection);
  const std::size_t end = std::min(standing.find(". "), standing.size() - 1);
  const bool is_described = projection.decisions.has_value();
  Section root(is_described ? "Projected, not measured: " + subject_of(projection)
                            : standing.substr(0, end));
  root.list(projected_answers(projection), "verdict", kEverywhere);
  root.say(limits_sentence(projection), "hint", kEverywhere);
  add_bars(root, projection);
  root.say(projection.fits, "hint", kEverywhere);
  if (end + 2 < standing.size()) root.say(standing.substr(end + 2), "range", kEverywhere);
  if (is_described && !projection.decisions->knows_single_step &&
      shown_point(projection) != nullptr) {
    root.say(
        "Next: measure a step on one such GPU and give it with --single-step, for one "
        "--batch-per-device: narrower intervals.",
        "hint", kAnswer);
  }
  std::vector<std::string> basis = projection.basis;
  const auto warnings = std::ranges::stable_partition(
      basis, [](const std::string& line) { return !line.starts_with("! "); });
  for (auto line = warnings.begin(); line != warnings.end(); ++line) line->erase(0, 2);
  root.list({warnings.begin(), warnings.end()}, "notes", kEverywhere);
  root.list({basis.begin(), warnings.begin()}, "breaks");
  if (!projection.held_out.empty()) root.add(held_out_section(projection));
  if (!projection.cells.empty()) {
    Section section(Heading{"projected", "Projected steps"});
    section.say(is_described ? std::string(kStepWords) : how_intervals_grow(projection))
        .say(std::string(kLimitsWords));
    root.add(section.add(Table{.table = steps_table(projection), .caption = section.title}));
  }
  return root.add(left_out_section(projection));
}

}  // namespace tandem::reports
