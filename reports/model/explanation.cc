// SPDX-License-Identifier: Apache-2.0
#include "reports/model/explanation.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "common/stats/estimate.h"
#include "common/stats/summary.h"
#include "reports/model/communication.h"
#include "reports/model/notes.h"
#include "reports/model/phases.h"
#include "reports/model/subject.h"
#include "reports/model/summary.h"
#include "reports/text/format.h"

namespace tandem::reports {

namespace {

using results::LaunchRecord;

std::vector<Step> steps_of(const MeasuredLadder& ladder) {
  std::vector<Step> steps;
  for (std::size_t i = 0; i < kLadder.size(); ++i) {
    const MeasuredLadder::Launches& launches = *ladder.find(kLadder[i]);
    steps.push_back({.label = launches.rung.label,
                     .cell = strategy_label(launches.rung.cell),
                     .launches = static_cast<int>(launches.measured.size()),
                     .failed_launches = launches.failed,
                     .disturbed_launches = launches.disturbed,
                     .mean_step = ladder.sum({{kLadder[i], 1}})});
    if (i > 0) steps.back().saves = ladder.sum(minus(kLadder[i - 1], kLadder[i]));
  }
  return steps;
}

// A cause with a switch: the rungs whose difference is the time saved by removing the cause first
// and last.
struct Cause {
  const char* name;
  Weights first;
  Weights last;
};

std::vector<Cause> switchable_causes() {
  return {{"threads spawned at every step", minus(Rung::kDp, Rung::kKeptThreads),
           minus(Rung::kThreadsBack, Rung::kLossInReplicas)},
          {"transfers in chunks, one after the other", minus(Rung::kDp, Rung::kTransfersAlone),
           minus(Rung::kTransfersBack, Rung::kLossInReplicas)},
          {"loss on device 0", minus(Rung::kDp, Rung::kLossAlone),
           minus(Rung::kTreeTransfers, Rung::kLossInReplicas)},
          {"input dealt out by device 0", minus(Rung::kAllReduce, Rung::kLocalInput),
           minus(Rung::kScatterBack, Rung::kOverlap)},
          {"one bucket", minus(Rung::kAllReduce, Rung::kBucketsAlone),
           minus(Rung::kOneBucketBack, Rung::kOverlap)},
          {"no overlap", minus(Rung::kAllReduce, Rung::kOverlapAlone),
           minus(Rung::kBuckets, Rung::kOverlap)},
          {"threads of one process", minus(Rung::kLocalInput, Rung::kProcessesAlone),
           minus(Rung::kOverlap, Rung::kProcesses)}};
}

std::vector<RemovalRange> ranges_of(const MeasuredLadder& ladder) {
  std::vector<RemovalRange> ranges;
  for (const Cause& cause : switchable_causes()) {
    ranges.push_back(
        {.cause = cause.name, .first = ladder.sum(cause.first), .last = ladder.sum(cause.last)});
  }
  return ranges;
}

// The step to the all-reduce has no switch, so the step counts as the ladder has it.
Weights interaction_weights() {
  Weights weights = minus(Rung::kDp, Rung::kProcesses);
  for (const Cause& cause : switchable_causes()) add(weights, cause.first, -1);
  add(weights, minus(Rung::kLossInReplicas, Rung::kAllReduce), -1);
  return weights;
}

void add_modelled(Explanation& explanation, const MeasuredLadder& ladder) {
  if (ladder.find(Rung::kDpDispatch) == nullptr) return;
  explanation.modelled = {
      {.cause = "dispatch cost in dp", .figure = ladder.sum(minus(Rung::kDpDispatch, Rung::kDp))},
      {.cause = "dispatch cost in ddp",
       .figure = ladder.sum(minus(Rung::kDdpDispatch, Rung::kStockDdp))}};
  if (ladder.find(Rung::kDpLock) != nullptr) {
    explanation.modelled.push_back(
        {.cause = "interpreter lock in dp: one interpreter shared, against one each",
         .figure = ladder.sum(minus(Rung::kDpLock, Rung::kDpDispatch))});
  }
  for (const Rung rung : {Rung::kDpDispatch, Rung::kDdpDispatch, Rung::kDpLock}) {
    if (!ladder.has(rung)) continue;
    const auto per_step = [](const LaunchRecord& record) { return record.dispatches_per_step; };
    explanation.dispatches.emplace_back(ladder.find(rung)->rung.label,
                                        stats::mean(ladder.values(rung, per_step)));
  }
}

// A document with only the ladder's launches, so that notes concern no other launch.
results::Document ladder_document(const results::Document& document, const MeasuredLadder& ladder,
                                  int launches) {
  std::set<std::string> names;
  for (const auto& rung : ladder.rungs()) names.insert(rung.rung.cell.name());
  results::Document own{.sweep = document.sweep, .launches = {}};
  own.sweep.planned_cells = static_cast<int>(names.size());
  own.sweep.launches_per_cell = launches;
  own.sweep.additions.clear();
  for (const LaunchRecord& record : document.launches) {
    if (names.contains(record.cell.name()) && record.mode == "synchronous") {
      own.launches.push_back(record);
    }
  }
  return own;
}

// The number of rungs by the plan that measured them: 0 is the sweep itself, then come additions to
// the sweep.
std::map<std::size_t, int> rungs_by_plan(const results::SweepInfo& sweep,
                                         const MeasuredLadder& ladder) {
  std::map<std::size_t, int> counts;
  for (const auto& rung : ladder.rungs()) {
    if (rung.measured.empty()) continue;
    std::size_t plan = 0;
    for (std::size_t i = sweep.additions.size(); i > 0; --i) {
      const std::vector<std::string>& cells = sweep.additions[i - 1].cells;
      const bool here = std::ranges::find(cells, rung.rung.cell.name()) != cells.end();
      if (here) plan = i;
    }
    ++counts[plan];
  }
  return counts;
}

void note_interleaving(std::vector<std::string>& notes, const results::SweepInfo& sweep,
                       const MeasuredLadder& ladder) {
  const std::map<std::size_t, int> counts = rungs_by_plan(sweep, ladder);
  if (counts.size() < 2) return;
  int all = 0;
  for (const auto& [plan, count] : counts) all += count;
  const int first = counts.begin()->second;
  notes.push_back(fmt::format(
      "not interleaved: {} of {} rungs were there from the {} '{}' and were not interleaved with "
      "the {} measured later; a drift of the machine in between reads as an effect",
      first, all, counts.begin()->first == 0 ? "sweep" : "addition to", sweep.name, all - first));
}

void note_scatter(std::vector<std::string>& notes, const GapQuestion& question) {
  if (question.input == "host") return;
  notes.push_back(fmt::format(
      "input: all rungs start from {} memory but those with input=scatter, whose batch starts in "
      "host memory; the steps to and from them hold that difference too",
      question.input));
}

int fewest_launches(const MeasuredLadder& ladder) {
  int fewest = 0;
  for (const auto& rung : ladder.rungs()) {
    const auto count = static_cast<int>(rung.measured.size());
    if (count > 0 && (fewest == 0 || count < fewest)) fewest = count;
  }
  return fewest;
}

constexpr std::size_t kMostPoints = 4;

GapQuestion question_of(const CellSummary& dp) {
  GapQuestion question;
  question.model = dp.cell.model;
  question.batch = dp.cell.global_batch;
  question.devices = dp.cell.devices;
  question.backend = dp.cell.backend;
  question.precision = precision_of(dp.cell);
  question.optimizer = dp.cell.option("optimizer");
  question.simulated = what_is_simulated(dp.cell);
  return question;
}

// Whether the cell has default options, in whatever precision, with whatever optimizer, on whatever
// machine is simulated.
bool is_usual(results::Cell cell) {
  cell.options.erase("optimizer");
  for (const auto& [option, value] : what_is_simulated(cell)) cell.options.erase(option);
  return is_plain(cell);
}

std::set<std::string> measured_names(const Summary& summary) {
  std::set<std::string> names;
  for (const CellSummary& cell : summary.cells) {
    if (cell.launches > 0 && cell.mode == "synchronous") names.insert(cell.cell.name());
  }
  return names;
}

bool has_ladder(const GapQuestion& question, const std::set<std::string>& names) {
  const std::vector<RungCell> cells = ladder_cells(question);
  return std::all_of(cells.begin(), cells.begin() + static_cast<std::ptrdiff_t>(kLadder.size()),
                     [&](const RungCell& rung) { return names.contains(rung.cell.name()); });
}

// The mean seconds of a phase on the critical device.
double phase(const LaunchRecord& record, const std::string& name) {
  return phase_seconds(*critical_device(record), name);
}

double in_no_phase(const LaunchRecord& record) {
  double rest = mean_step(record);
  for (const auto& [name, seconds] : critical_device(record)->mean_seconds) rest -= seconds;
  return rest;
}

bool has_phases(const MeasuredLadder& ladder, Rung rung) {
  return have_phases(ladder.find(rung)->measured);
}

void add_phase_names(std::set<std::string>& names, const MeasuredLadder& ladder, Rung rung) {
  for (const LaunchRecord* record : ladder.find(rung)->measured) {
    for (const auto& [name, seconds] : critical_device(*record)->mean_seconds) names.insert(name);
  }
}

// The step from dp's last rung to the all-reduce, by phase of the critical devices: differences of
// phase means, where dp's reduction is compared with the exposed all-reduce, and the time in no
// phase last, so that the effects sum to the step. Empty where phases were not timed.
std::vector<Effect> replication_by_phase(const MeasuredLadder& ladder) {
  const Rung above = Rung::kLossInReplicas;
  const Rung below = Rung::kAllReduce;
  if (!has_phases(ladder, above) || !has_phases(ladder, below)) return {};
  std::set<std::string> names{"reduce"};
  add_phase_names(names, ladder, above);
  add_phase_names(names, ladder, below);
  names.erase("exposed_comm");
  std::vector<Effect> effects;
  for (const std::string& name : in_step_order({names.begin(), names.end()})) {
    const bool reduces = name == "reduce";
    const auto value = [&](const LaunchRecord& record) {
      return phase(record, name) + (reduces ? phase(record, "exposed_comm") : 0);
    };
    effects.push_back({.cause = reduces ? "reduce, against exposed all-reduce" : name,
                       .figure = ladder.difference(above, below, value)});
  }
  effects.push_back(
      {.cause = "in no phase", .figure = ladder.difference(above, below, in_no_phase)});
  return effects;
}

// The extra time of ddp as torch has it over independent processes, in the parts of own_costs(),
// which sum to that time. Empty where phases were not timed or a rung is missing.
std::vector<Effect> own_costs_of_ddp(const MeasuredLadder& ladder) {
  if (!ladder.has(Rung::kStockDdp) || !ladder.has(Rung::kIndependent)) return {};
  const std::optional<OwnCosts> costs =
      own_costs(ladder.find(Rung::kStockDdp)->measured, ladder.find(Rung::kIndependent)->measured);
  if (!costs) return {};
  constexpr std::array kCauses{"exposed transfer (least of all ranks)",
                               "skew (one rank later than the others)",
                               "contention (forward and backward slowed, least of all ranks)",
                               "bucket copies", "rest (input, loss, update, in no phase)"};
  std::vector<Effect> effects;
  for (std::size_t i = 0; i < kCauses.size(); ++i) {
    effects.push_back(
        {.cause = kCauses[i],
         .figure = {.seconds = *costs.*kCostParts[i], .is_projected = ladder.is_projected()}});
  }
  return effects;
}

struct Pair {
  const char* end;
  Rung theirs;
  Rung ours;
};

constexpr std::array kPairs{Pair{"ddp", Rung::kTheirDdp, Rung::kStockDdp},
                            Pair{"dp", Rung::kTheirDp, Rung::kDp},
                            Pair{"single, a share", Rung::kTheirSingle, Rung::kOwnSingle}};

CellSummary side(const MeasuredLadder& ladder, Rung rung) {
  CellSummary summary;
  fill_medians(summary, ladder.find(rung)->measured);
  return summary;
}

Agreement compare(const MeasuredLadder& ladder, const Pair& pair) {
  Agreement found{.end = pair.end, .theirs = {}, .ours = {}, .ratio = {}, .missing = {}};
  found.missing = ladder.sum(minus(pair.theirs, pair.ours)).missing;
  if (!found.missing.empty()) return found;
  const CellSummary theirs = side(ladder, pair.theirs);
  const CellSummary ours = side(ladder, pair.ours);
  found.theirs = theirs.median_step;
  found.ours = ours.median_step;
  found.ratio = ratio_of(theirs, ours);
  return found;
}

// How far Tandem's ends of the ladder agree with those of another implementation.
std::vector<Agreement> agreement_of(const MeasuredLadder& ladder) {
  std::vector<Agreement> ends;
  for (const Pair& pair : kPairs) {
    if (ladder.find(pair.theirs) != nullptr) ends.push_back(compare(ladder, pair));
  }
  return ends;
}

}  // namespace

Explanation explain(const results::Document& document, const GapQuestion& question, int launches) {
  const MeasuredLadder ladder(document, question);
  Explanation explanation;
  explanation.question = question;
  explanation.launches = fewest_launches(ladder);
  explanation.ladder = steps_of(ladder);
  explanation.gap = ladder.sum(minus(Rung::kDp, Rung::kProcesses));
  explanation.stock_gap = ladder.sum(minus(Rung::kDp, Rung::kStockDdp));
  explanation.stock = ladder.sum(minus(Rung::kStockDdp, Rung::kProcesses));
  explanation.stock_mean_step = ladder.sum({{Rung::kStockDdp, 1}});
  explanation.ranges = ranges_of(ladder);
  explanation.interaction = ladder.sum(interaction_weights());
  explanation.replication = replication_by_phase(ladder);
  explanation.own_cost = ladder.sum(minus(Rung::kStockDdp, Rung::kIndependent));
  explanation.own_costs = own_costs_of_ddp(ladder);
  add_modelled(explanation, ladder);
  explanation.agreement = agreement_of(ladder);
  const results::Document own = ladder_document(document, ladder, launches);
  const Summary summary = summarize(own);
  explanation.subject = subject(own, summary);
  explanation.notes = notes(own, summary);
  note_interleaving(explanation.notes, document.sweep, ladder);
  note_scatter(explanation.notes, question);
  return explanation;
}

std::vector<Explanation> explained_points(const results::Document& document,
                                          const Summary& summary) {
  const std::set<std::string> names = measured_names(summary);
  std::vector<const CellSummary*> points;
  for (const StrategyPair& pair : summary.comparisons) {
    const CellSummary& dp = *pair.dp;
    if (dp.cell.devices < 2 || !is_usual(dp.cell) || !is_usual(pair.ddp->cell)) continue;
    if (has_ladder(question_of(dp), names)) points.push_back(&dp);
  }
  std::ranges::stable_sort(
      points, [](const auto* a, const auto* b) { return a->cell.devices > b->cell.devices; });
  points.resize(std::min(points.size(), kMostPoints));
  std::vector<Explanation> found;
  for (const CellSummary* point : points) {
    found.push_back(explain(document, question_of(*point), point->launches));
  }
  return found;
}

bool is_resolved(const Figure& figure) {
  return figure.seconds && stats::is_resolved(*figure.seconds);
}

bool has_sign(const Figure& figure) {
  const bool is_projected = figure.seconds && figure.is_projected && figure.seconds->center != 0;
  return is_projected || is_resolved(figure);
}

std::string milliseconds_text(const Figure& figure) {
  return figure.seconds ? fixed_text(*figure.seconds, 3, "", 1e3) : "no figure";
}

std::string remark(const Figure& figure) {
  if (!figure.seconds) return figure.missing;
  if (figure.is_projected) return kProjected;
  return is_resolved(figure) ? "" : kNotResolved;
}

std::string judged(const Figure& figure) {
  const std::string text = milliseconds_text(figure);
  return remark(figure).empty() ? text : text + ", " + remark(figure);
}

std::string bar(const Figure& figure, double full) {
  constexpr double kWidth = 16;
  if (!figure.seconds || full <= 0) return "";
  const double share = std::abs(figure.seconds->center) / full;
  const auto length = static_cast<std::size_t>(std::lround(kWidth * share));
  const char mark = !has_sign(figure) ? '~' : figure.seconds->center > 0 ? '#' : '-';
  return std::string(std::max<std::size_t>(length, 1), mark);
}

std::optional<double> farthest_apart(const std::vector<Agreement>& ends) {
  double farthest = 1;
  for (const Agreement& end : ends) {
    if (!end.ratio || !end.ratio->interval) return std::nullopt;
    const auto& [low, high] = *end.ratio->interval;
    farthest = std::max({farthest, high, 1 / low});
  }
  return farthest;
}

}  // namespace tandem::reports
