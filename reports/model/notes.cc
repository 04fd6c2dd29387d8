// SPDX-License-Identifier: Apache-2.0
#include "reports/model/notes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "common/base/text.h"
#include "common/options/strategies.h"
#include "common/results/disturbance.h"
#include "reports/model/subject.h"
#include "reports/text/format.h"

namespace tandem::reports {

namespace {

using enum options::StrategyKind;

using results::LaunchRecord;
using results::Status;

std::map<std::string, int> launches_of_additions(const results::SweepInfo& sweep) {
  std::map<std::string, int> launches;
  for (const results::Addition& addition : sweep.additions) {
    for (const std::string& cell : addition.cells) launches[cell] = addition.launches_per_cell;
  }
  return launches;
}

int launches_planned(const results::SweepInfo& sweep) {
  int planned = sweep.planned_cells * sweep.launches_per_cell;
  for (const auto& [name, launches] : launches_of_additions(sweep)) planned += launches;
  return planned;
}

// The cell's name, or "3 cells".
std::string who(const std::vector<const CellSummary*>& cells) {
  return cells.size() == 1 ? cells.front()->cell.name() : count_text(std::ssize(cells), "cell");
}

// Adds "3 cells failed: <reason>", a line per reason.
void add_reasons(std::vector<std::string>& lines, const Summary& summary, Status status) {
  std::map<std::string, std::vector<const CellSummary*>> by_reason;
  for (const CellSummary& cell : summary.cells) {
    if (cell.launches == 0 && cell.status == status) by_reason[cell.reason].push_back(&cell);
  }
  for (const auto& [reason, cells] : by_reason) {
    lines.push_back(fmt::format("{} {}: {}", who(cells), to_string(status), reason));
  }
}

// Other work on the machine is the commonest cause of wide intervals.
void add_load(std::vector<std::string>& lines, const results::SweepInfo& sweep) {
  const results::Context& context = sweep.context;
  if (context.load_avg.empty() || context.num_cpus == 0) return;
  const double load = context.load_avg.front();
  if (load <= 0.5 * context.num_cpus) return;
  lines.push_back(fmt::format(
      "busy: the load average at the start was {:.1f} on {}; unless that was work that had just "
      "ended, such as a build, it took time from what was measured",
      load, count_text(context.num_cpus, "CPU")));
}

// Adds a line of the launches that others disturbed, with the causes of the last one.
void add_disturbed(std::vector<std::string>& lines, const results::Document& document) {
  int launches = 0;
  std::vector<std::string> causes;
  for (const LaunchRecord& record : document.launches) {
    if (record.status != Status::kOk) continue;
    std::vector<std::string> found = results::disturbances(record);
    if (found.empty()) continue;
    ++launches;
    causes = std::move(found);
  }
  if (launches == 0) return;
  lines.push_back(fmt::format(
      "disturbed: others took more than {:.0f} % of the time from {} (the last one: {}); figures "
      "are of the undisturbed launches, or of all, with the mark, where fewer than half are",
      100 * results::kDisturbedShare, count_text(launches, "launch"), join(causes, "; ")));
}

// Warns that samples of several nodes are too long by about the barrier's skew.
void add_skew(std::vector<std::string>& lines, const results::Document& document) {
  const results::LaunchRecord* worst = nullptr;
  for (const results::LaunchRecord& record : document.launches) {
    if (record.status != Status::kOk || record.barrier_skew_uncertainty_seconds == 0) continue;
    if (worst == nullptr || record.barrier_skew_seconds > worst->barrier_skew_seconds) {
      worst = &record;
    }
  }
  if (worst == nullptr) return;
  lines.push_back(fmt::format(
      "several nodes: they have no clock in common, so a sample there is the slowest rank's own "
      "duration and may be too long by the barrier's skew: {:.1f} us, known to within {:.1f} us, "
      "in the launch where it was largest",
      worst->barrier_skew_seconds * 1e6, worst->barrier_skew_uncertainty_seconds * 1e6));
}

// Adds a line per planted delay.
void add_planted(std::vector<std::string>& lines, const Summary& summary) {
  std::map<std::string, std::vector<const CellSummary*>> by_delay;
  for (const CellSummary& cell : summary.cells) {
    if (!cell.planted.empty()) by_delay[cell.planted].push_back(&cell);
  }
  for (const auto& [delay, cells] : by_delay) {
    lines.push_back(fmt::format(
        "planted: a delay was put on purpose ({}) into {}; these are no figures of this machine",
        delay, who(cells)));
  }
}

// Adds "warning: <text> (in 3 cells)", a line per text.
void add_warnings(std::vector<std::string>& lines, const Summary& summary) {
  std::map<std::string, int> cells;
  for (const CellSummary& cell : summary.cells) {
    for (const std::string& warning : cell.warnings) ++cells[warning];
  }
  for (const auto& [warning, count] : cells) {
    lines.push_back(fmt::format("warning: {} (in {})", warning, count_text(count, "cell")));
  }
}

template <class Predicate>
bool any_measured(const Summary& summary, Predicate predicate) {
  return std::ranges::any_of(
      summary.cells, [&](const CellSummary& cell) { return cell.launches > 0 && predicate(cell); });
}

// Notes missing speed-ups and efficiencies.
void add_baselines(std::vector<std::string>& lines, const Summary& summary) {
  const auto lacking = std::ranges::count_if(summary.cells, [](const CellSummary& cell) {
    return cell.launches > 0 && cell.cell.strategy != name_of(kSingle) && !cell.speedup &&
           !cell.cell.is_pretended();
  });
  if (lacking == 0 || is_projected(summary)) return;  // which has single at a device's share
  lines.push_back(fmt::format(
      "no baseline: single was not measured with the model, batch and options of {}: no speed-up "
      "and no efficiency there",
      count_text(lacking, "cell")));
}

// Says what the figures of dp and ddp between GPUs leave out, where PyTorch's own were not measured
// beside them. There is no figure for it: what the interpreter costs is known of another processor
// alone, and how much of it hides behind kernels only launches show.
void add_interpreter(std::vector<std::string>& lines, const Summary& summary) {
  const auto is_of_gpus = [](const CellSummary& cell) { return cell.cell.backend == "cuda"; };
  const auto is_compared = [&](const CellSummary& cell) {
    const bool is_pair = cell.cell.strategy == name_of(kDp) || cell.cell.strategy == name_of(kDdp);
    return is_of_gpus(cell) && is_pair && cell.cell.devices > 1 && cell.modelled.empty();
  };
  const auto is_of_torch = [&](const CellSummary& cell) {
    return is_of_gpus(cell) && !implementation_of(cell.cell).empty();
  };
  if (!any_measured(summary, is_compared) || any_measured(summary, is_of_torch)) return;
  lines.emplace_back(
      "without PyTorch: what its interpreter adds to dp and ddp is in none of these figures; "
      "install a torch with CUDA for python3, or name one by --with-torch=PYTHON, and a new run "
      "measures PyTorch's own dp and ddp beside them");
}

// Explains the marks beside figures.
void add_marks(std::vector<std::string>& lines, const Summary& summary) {
  if (any_measured(summary, [](const CellSummary& cell) { return cell.oversubscribed; })) {
    lines.emplace_back(
        "oversubscribed: more devices than cores; devices took turns, so these figures say "
        "nothing about machines with a core per device");
  }
  if (any_measured(summary, [](const CellSummary& cell) { return cell.cell.is_pretended(); })) {
    lines.emplace_back(
        "pretended GPUs: host work measured, nothing computed; kernels, copies and collectives "
        "take no time, so these figures have no samples per second and no speed-up");
  }
  if (!is_projected(summary) &&
      any_measured(summary, [](const CellSummary& cell) { return !cell.modelled.empty(); })) {
    lines.emplace_back("modelled: figures with this mark hold times that were not measured");
  }
  if (any_measured(summary, [](const CellSummary& cell) { return cell.half_width.has_value(); })) {
    lines.emplace_back(
        "projected intervals: of the method's errors on other steps, not 95 % of launches");
  }
  if (any_measured(summary, [](const CellSummary& cell) { return cell.efficiency_above_one(); })) {
    lines.emplace_back(
        "efficiency above 100 % (against single): more devices also bring more cache, or the "
        "baseline is slow; look there before believing it");
  }
}

void add_drift(std::vector<std::string>& lines, const Summary& summary) {
  const auto cells = std::ranges::count_if(
      summary.cells, [](const CellSummary& cell) { return cell.drift.has_value(); });
  if (cells == 0) return;
  lines.push_back(fmt::format(
      "drift in {}: launches became slower or faster as the run went on, so that their intervals, "
      "which take them as independent, say too much; of 100 steady cells at most one is marked so",
      count_text(cells, "cell")));
}

// The mark that says that weights or gradients travelled by collectives though the cell's name does
// not say so, or not alike in all launches. Empty where neither is the case.
std::string transfers_mark(const CellSummary& cell) {
  std::vector<std::string> by_collectives;
  for (const auto& [option, what] : {std::pair{"broadcast", "weights"}, {"reduce", "gradients"}}) {
    const std::set<std::string> values = settled(cell, option);
    if (values.size() > 1) return std::string(what) + " not sent alike in all launches";
    if (values.contains("collective") && !cell.cell.options.contains(option)) {
      by_collectives.emplace_back(what);
    }
  }
  return by_collectives.empty() ? "" : join(by_collectives, " and ") + " by collectives";
}

}  // namespace

int launches_missing(const results::SweepInfo& sweep, const Summary& summary) {
  std::map<std::string, int> added = launches_of_additions(sweep);
  int unseen = sweep.planned_cells;  // cells of the sweep itself
  int missing = 0;
  for (const CellSummary& cell : summary.cells) {
    const auto place = added.find(cell.cell.name());
    const int planned = place == added.end() ? sweep.launches_per_cell : place->second;
    if (place == added.end()) {
      --unseen;
    } else {
      added.erase(place);
    }
    if (cell.status != Status::kOk) continue;
    missing += std::max(0, planned - cell.all_measured() - cell.failed_launches);
  }
  for (const auto& [name, launches] : added) missing += launches;
  return missing + std::max(0, unseen) * sweep.launches_per_cell;
}

std::vector<std::string> notes(const results::Document& document, const Summary& summary) {
  std::vector<std::string> lines;
  const int missing = launches_missing(document.sweep, summary);
  if (missing > 0) {
    lines.push_back(
        fmt::format("unfinished: {} of {} planned launches are missing; run the sweep again with "
                    "the same --out to go on",
                    missing, launches_planned(document.sweep)));
  }
  if (!is_projected(summary)) add_load(lines, document.sweep);
  add_disturbed(lines, document);
  add_reasons(lines, summary, Status::kFailed);
  add_reasons(lines, summary, Status::kSkipped);
  add_marks(lines, summary);
  add_baselines(lines, summary);
  add_interpreter(lines, summary);
  add_planted(lines, summary);
  for (std::string& line : gpu_notes(document)) lines.push_back(std::move(line));
  add_drift(lines, summary);
  add_skew(lines, document);
  add_warnings(lines, summary);
  return lines;
}

std::vector<std::string> marks_of(const CellSummary& summary) {
  constexpr double kMostRemainder = 0.02;
  std::vector<std::string> marks;
  if (summary.oversubscribed) marks.emplace_back("oversubscribed");
  if (summary.devices_used > 0 && summary.devices_used < summary.cell.devices) {
    marks.push_back(fmt::format("only {} used", count_text(summary.devices_used, "device")));
  }
  if (summary.cell.is_pretended()) marks.emplace_back("pretended");
  if (summary.cell.is_simulated()) marks.emplace_back("simulated");
  if (!summary.modelled.empty()) marks.push_back("modelled: " + summary.modelled);
  if (!summary.planted.empty()) marks.push_back("planted: " + summary.planted);
  if (summary.mode != "synchronous") marks.push_back(summary.mode);
  if (summary.efficiency_above_one()) marks.emplace_back("efficiency above 100 %");
  if (std::abs(summary.remainder_share()) > kMostRemainder) {
    marks.push_back(
        fmt::format("{:.1f} % of the step in no phase", 100 * summary.remainder_share()));
  }
  if (has_unfused_attention(summary)) marks.emplace_back("attention not fused");
  if (has_tf32_convolutions(summary)) marks.emplace_back("tf32 convolutions");
  for (const std::string& mark :
       {slowdown_mark(summary), clock_mark(summary), transfers_mark(summary)}) {
    if (!mark.empty()) marks.push_back(mark);
  }
  if (summary.drift) {
    marks.push_back(
        fmt::format("drifts: {:+.1f} % from first to last launch", 100 * summary.drift->change));
  }
  if (summary.holds_disturbed) {
    marks.push_back(fmt::format("disturbed: {} of {}", summary.disturbed_launches,
                                count_text(summary.launches, "launch")));
  }
  if (summary.launches > 0 && summary.failed_launches > 0) {
    marks.push_back(fmt::format("{} failed", count_text(summary.failed_launches, "launch")));
  }
  return marks;
}

std::string disturbed_words(const StrategyPair& pair, const std::string& dp,
                            const std::string& ddp) {
  const bool is_dp = pair.dp->holds_disturbed;
  const bool is_ddp = pair.ddp->holds_disturbed;
  if (!is_dp && !is_ddp) return "";
  const std::string whose = is_dp && is_ddp ? "" : " of " + (is_dp ? dp : ddp);
  return fmt::format("; most launches{} were disturbed (others took their time)", whose);
}

std::set<std::string> settled(const CellSummary& cell, const std::string& option) {
  std::set<std::string> values;
  for (const results::LaunchRecord* launch : cell.measured) {
    const auto found = launch->resolved.find(option);
    if (found != launch->resolved.end()) values.insert(found->second);
  }
  return values;
}

bool has_unfused_attention(const CellSummary& cell) {
  return std::ranges::any_of(settled(cell, "attention"), results::is_unfused);
}

bool has_tf32_convolutions(const CellSummary& cell) {
  return cell.cell.option("precision", "fp32") == "fp32" &&
         std::ranges::any_of(settled(cell, "convolutions"),
                             [](const auto& by) { return by.ends_with(", tf32"); });
}

}  // namespace tandem::reports
