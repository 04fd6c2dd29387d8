// SPDX-License-Identifier: Apache-2.0
#include "reports/model/document_change.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "common/stats/comparison.h"
#include "common/stats/rounds.h"
#include "reports/model/cell_partners.h"
#include "reports/model/notes.h"
#include "reports/model/subject.h"
#include "reports/text/format.h"

namespace tandem::reports {

namespace {

using stats::Change;

enum class Pairing { kOfTwoRuns, kInRounds };

bool can_be_told(const CellChange& cell, Pairing pairing) {
  if (pairing == Pairing::kInRounds) return cell.rounds >= 2;
  return cell.before->launches >= 2 && cell.after->launches >= 2;
}

// Adds the cell's marks as "A: drifts: ...", without the letter where both documents have the mark.
void add_marks(CellChange& cell, const DocumentNames& names) {
  const std::vector<std::string> before = marks_of(*cell.before);
  const std::vector<std::string> after = marks_of(*cell.after);
  const auto holds = [](const std::vector<std::string>& list, const std::string& mark) {
    return std::ranges::find(list, mark) != list.end();
  };
  for (const std::string& mark : before) {
    cell.remarks.push_back(holds(after, mark) ? mark : names.before + ": " + mark);
  }
  for (const std::string& mark : after) {
    if (!holds(before, mark)) cell.remarks.push_back(names.after + ": " + mark);
  }
}

// The ratio of energies is told beside the verdict, which is of times alone.
void add_energy(CellChange& cell, Pairing pairing) {
  if (!cell.before->joules_per_step || !cell.after->joules_per_step) return;
  if (pairing == Pairing::kInRounds) {
    const RoundValues rounds = joules_in_rounds(*cell.before, *cell.after);
    if (rounds.after.empty()) return;
    cell.energy_ratio = stats::ratio_in_rounds(rounds.after, rounds.before);
  } else {
    cell.energy_ratio = stats::ratio_by_t(cell.after->joules, cell.before->joules);
  }
  cell.remarks.push_back("energy per step " + change_ratio_text(*cell.energy_ratio));
}

void estimate(CellChange& cell, Pairing pairing, double confidence, const ChangeRule& rule) {
  if (pairing == Pairing::kInRounds) {
    const RoundValues rounds = medians_in_rounds(*cell.before, *cell.after);
    cell.time_ratio = stats::ratio_in_rounds(rounds.after, rounds.before, confidence);
    return;
  }
  cell.time_ratio =
      stats::ratio_by_t(cell.after->medians, cell.before->medians, confidence, rule.between_runs);
}

void judge(CellChange& cell, Pairing pairing, double confidence, const ChangeRule& rule) {
  estimate(cell, pairing, confidence, rule);
  cell.change = stats::judge_change(cell.time_ratio, rule.threshold);
  const bool is_change =
      cell.change == stats::Change::kSlower || cell.change == stats::Change::kFaster;
  if (is_change && stats::is_beyond(cell.time_ratio, rule.threshold)) {
    cell.remarks.push_back(fmt::format("by more than {:g} %", 100 * rule.threshold));
  }
}

// Leaves a ratio without an interval, and says why.
void leave_unsure(CellChange& cell, Pairing pairing) {
  cell.time_ratio = stats::ratio_by_t(cell.after->medians, cell.before->medians);
  cell.time_ratio.interval.reset();
  cell.remarks.push_back(pairing == Pairing::kInRounds
                             ? "a single round does not tell how rounds vary"
                             : "a single launch does not tell how launches vary");
}

std::vector<CellChange> common_cells(const Summary& before, const Summary& after,
                                     const CellNames& cell_names, Pairing pairing) {
  const Partners partners(after, before, cell_names);
  std::vector<CellChange> cells;
  for (const CellSummary& cell : before.cells) {
    const CellSummary* const partner = cell.launches > 0 ? partners.of(cell) : nullptr;
    if (partner == nullptr) continue;
    CellChange common;
    common.before = &cell;
    common.after = partner;
    if (pairing == Pairing::kInRounds) {
      common.rounds = static_cast<int>(medians_in_rounds(cell, *partner).after.size());
    }
    cells.push_back(common);
  }
  return cells;
}

constexpr std::size_t kMostNamed = 5;

using Facts = std::map<std::string, std::string>;

void add(Facts& facts, const std::string& name, const std::string& value) {
  if (!value.empty()) facts[name] = value;
}

std::string number(long long value) { return value == 0 ? "" : std::to_string(value); }

Facts machine_facts(const results::Document& document) {
  const results::MachineFacts machine = machine_of(document);
  Facts facts;
  add(facts, "host", machine.host_name);
  add(facts, "nodes", join(machine.hosts, ", "));
  add(facts, "CPU", machine.cpu_model);
  add(facts, "cores", number(machine.cores));
  add(facts, "page", number(machine.page_bytes));
  for (const results::LaunchRecord& launch : document.launches) {
    if (!launch.gpus.empty()) add(facts, "GPU driver", launch.gpus.front().driver);
  }
  return facts;
}

Facts software_facts(const results::Document& document) {
  const results::MachineFacts machine = machine_of(document);
  Facts facts = machine.libraries;
  for (const auto& [name, value] : machine.variables) facts["variable " + name] = value;
  add(facts, "kernel", machine.kernel);
  add(facts, "build", document.sweep.context.library_build_type);
  const auto& custom = document.sweep.context.custom;
  const auto version = custom.find("tandem_version");
  if (version != custom.end()) add(facts, "version of tandem", version->second);
  return facts;
}

// Adds "WHAT: CPU X against Y, cores 2 against 4"; adds nothing where all facts are the same.
void add_differences(std::vector<std::string>& lines, const char* what, const Facts& before,
                     const Facts& after) {
  std::set<std::string> names;
  for (const Facts* facts : {&before, &after}) {
    for (const auto& [name, value] : *facts) names.insert(name);
  }
  const auto value_of = [](const Facts& facts, const std::string& name) {
    const auto found = facts.find(name);
    return found == facts.end() ? std::string("none") : found->second;
  };
  std::vector<std::string> parts;
  for (const std::string& name : names) {
    const std::string a = value_of(before, name);
    const std::string b = value_of(after, name);
    if (a != b) parts.push_back(fmt::format("{} {} against {}", name, a, b));
  }
  if (!parts.empty()) lines.push_back(fmt::format("{}: {}", what, join(parts, ", ")));
}

// Other work during one of the runs is the commonest cause of an apparent change.
void add_load(std::vector<std::string>& lines, const results::Context& before,
              const results::Context& after) {
  if (before.load_avg.empty() || after.load_avg.empty()) return;
  const double a = before.load_avg.front();
  const double b = after.load_avg.front();
  if (std::abs(a - b) <= 0.5 * std::max(before.num_cpus, after.num_cpus)) return;
  lines.push_back(fmt::format("the load average at the start was {:.1f} against {:.1f}", a, b));
}

// Notes launches that both documents hold: no two launches have the same times in nanoseconds, and
// a launch compared with itself says nothing.
void add_shared(std::vector<std::string>& lines, const results::Document& before,
                const results::Document& after, const DocumentNames& names) {
  const auto times_of = [](const results::LaunchRecord& launch) {
    return std::tuple(launch.cell.name(), launch.first_step_seconds, launch.step_seconds);
  };
  std::set<decltype(times_of(before.launches.front()))> seen;
  for (const results::LaunchRecord& launch : before.launches) {
    if (launch.status == results::Status::kOk) seen.insert(times_of(launch));
  }
  const auto shared = std::ranges::count_if(after.launches, [&](const auto& launch) {
    return launch.status == results::Status::kOk && seen.contains(times_of(launch));
  });
  if (shared == 0) return;
  lines.push_back(fmt::format("{} both in {} and in {}: compared with itself, a run never differs",
                              count_text(shared, "launch") + (shared == 1 ? " is" : " are"),
                              names.before, names.after));
}

// Adds "only A measured 7 cells: name, name (B: failed: reason), ... and 2 more".
void add_lonely(std::vector<std::string>& lines, const std::string& own, const std::string& other,
                const std::vector<const CellSummary*>& cells, const Summary& others,
                const CellNames& cell_names) {
  if (cells.empty()) return;
  std::vector<std::string> names;
  for (const CellSummary* cell : cells) {
    if (names.size() == kMostNamed) break;
    std::string name = cell->cell.name();
    const std::string wanted = cell_names.own(cell->cell);
    for (const CellSummary& there : others.cells) {
      const bool is_it = cell_names.own(there.cell) == wanted && there.mode == cell->mode;
      if (there.launches > 0 || !is_it) continue;
      name += fmt::format(" ({}: {}: {})", other, to_string(there.status), there.reason);
      break;
    }
    names.push_back(name);
  }
  const std::size_t more = cells.size() - names.size();
  lines.push_back(fmt::format("only {} measured {}: {}{}", own,
                              count_text(std::ssize(cells), "cell"), join(names, ", "),
                              more > 0 ? fmt::format(" and {} more", more) : ""));
}

// Lines about the differences between two documents besides their figures, since each may be the
// cause of a change: the machines, their software and variables, the programs, the load at the
// start; and launches that both documents hold.
std::vector<std::string> change_notes(const results::Document& before,
                                      const results::Document& after, const DocumentNames& names) {
  std::vector<std::string> lines;
  const bool are_known = machine_of(before).cores > 0 && machine_of(after).cores > 0;
  if (are_known) {  // a document without a measured launch tells of neither
    add_differences(lines, "machines differ", machine_facts(before), machine_facts(after));
    add_differences(lines, "software differs", software_facts(before), software_facts(after));
  }
  add_load(lines, before.sweep.context, after.sweep.context);
  add_shared(lines, before, after, names);
  return lines;
}

// Adds the cells that only one document measured, with the reason where the other document tells a
// reason.
void add_lonely_cells(std::vector<std::string>& lines, const Summary& before, const Summary& after,
                      const std::vector<CellChange>& common, const CellNames& cell_names,
                      const DocumentNames& names) {
  std::set<const CellSummary*> met;
  for (const CellChange& cell : common) met.insert({cell.before, cell.after});
  const auto left_of = [&](const Summary& summary) {
    std::vector<const CellSummary*> left;
    for (const CellSummary& cell : summary.cells) {
      if (cell.launches > 0 && !met.contains(&cell)) left.push_back(&cell);
    }
    return left;
  };
  add_lonely(lines, names.before, names.after, left_of(before), after, cell_names);
  add_lonely(lines, names.after, names.before, left_of(after), before, cell_names);
}

bool has_failed(const CellSummary& cell) {
  return cell.failed_launches > 0 || cell.status == results::Status::kFailed;
}

std::vector<LostCell> lost_cells(const Summary& before, const Summary& after,
                                 const CellNames& cell_names) {
  const CellsByName then_by_name(before, cell_names);
  const CellsByName now_by_name(after, cell_names);
  std::vector<LostCell> lost;
  for (const CellSummary& cell : after.cells) {
    const CellSummary* const then = then_by_name.find(cell);
    const bool is_skipped = cell.launches == 0 && then != nullptr && then->launches > 0;
    if (has_failed(cell) || is_skipped) lost.push_back({.cell = &cell});
  }
  for (const CellSummary& cell : before.cells) {
    if (cell.launches == 0 || now_by_name.find(cell) != nullptr) continue;
    lost.push_back({.cell = &cell, .is_missing = true});
  }
  return lost;
}

// Names cells of which launches failed in the second document, but those that no launch of it
// measured and the first document did: another line names these.
void add_failed(std::vector<std::string>& lines, const std::vector<LostCell>& lost,
                const Summary& before, const CellNames& cell_names, const DocumentNames& names) {
  const CellsByName then_by_name(before, cell_names);
  std::vector<std::string> failed;
  for (const LostCell& one : lost) {
    const CellSummary& cell = *one.cell;
    const CellSummary* const then = then_by_name.find(cell);
    const bool is_lonely = cell.launches == 0 && then != nullptr && then->launches > 0;
    if (one.is_missing || is_lonely) continue;
    const bool failed_before = then != nullptr && has_failed(*then);
    failed.push_back(fmt::format("{} ({}{})", cell.cell.name(), cell.reason,
                                 failed_before ? "; failed in " + names.before + " too" : ""));
    if (failed.size() == kMostNamed) break;
  }
  if (failed.empty()) return;
  lines.push_back(fmt::format("in {} launches failed: {}", names.after, join(failed, ", ")));
}

// What both sides were; a deviation between runs does not apply.
void tell_of_one_run(DocumentChange& changes, const results::Document& before,
                     const results::Document& after, const DocumentNames& names) {
  changes.sides = fmt::format("{} is {}. {} is {}.", names.before, side_text(before), names.after,
                              side_text(after));
  if (std::exchange(changes.rule.between_runs, 0) == 0) return;
  changes.notes.emplace_back(
      "--between-runs does nothing here: both sides took turns in one run, and a round has no "
      "scatter between runs");
}

}  // namespace

std::string change_ratio_text(const stats::Estimate& ratio) {
  const auto is_usual = [](double value) { return value >= 0.01 && value < 100; };
  const bool usual =
      is_usual(ratio.center) &&
      (!ratio.interval || (is_usual(ratio.interval->low) && is_usual(ratio.interval->high)));
  if (!usual) return ratio_text(ratio);
  return fixed_text(ratio, 3, "x", 1);
}

std::string change_method(const DocumentChange& changes, const DocumentNames& names) {
  if (changes.confidence == 0) return "No cell has two launches on both sides: nothing is judged.";
  const double between = changes.rule.between_runs;
  const std::string what =
      changes.sides.empty()
          ? "Ratios of launch medians"
          : "Both took turns in one run; ratios of the launch medians of each round";
  return fmt::format(
      "{}; above 1 {} is slower. The intervals hold together with 95 %, each "
      "with {:.4g} %{}. SAME: within {:g} % either way. UNSURE: too wide to tell; more launches "
      "narrow it.",
      what, names.after, 100 * changes.confidence,
      between > 0 ? fmt::format(", and hold a scatter of {:g} % between runs", 100 * between) : "",
      100 * changes.rule.threshold);
}

std::string change_counts(const DocumentChange& changes) {
  std::vector<std::string> parts;
  for (const Change change : kChanges) {
    parts.push_back(fmt::format("{} {}", changes.count(change), to_string(change)));
  }
  return fmt::format("{}: {}.", count_text(std::ssize(changes.cells), "cell"), join(parts, ", "));
}

int DocumentChange::count(stats::Change change) const {
  return static_cast<int>(
      std::ranges::count_if(cells, [&](const CellChange& cell) { return cell.change == change; }));
}

int DocumentChange::count_missing() const {
  return static_cast<int>(std::ranges::count_if(lost, &LostCell::is_missing));
}

int DocumentChange::count_failed() const { return static_cast<int>(lost.size()) - count_missing(); }

DocumentChange compare_documents(const results::Document& before, const Summary& before_summary,
                                 const results::Document& after, const Summary& after_summary,
                                 const ChangeRule& rule, const DocumentNames& names) {
  DocumentChange result;
  result.rule = rule;
  const Pairing pairing = are_of_one_run(before, after) ? Pairing::kInRounds : Pairing::kOfTwoRuns;
  if (pairing == Pairing::kInRounds) tell_of_one_run(result, before, after, names);
  const CellNames cell_names(options_of_reference(before, after));
  result.cells = common_cells(before_summary, after_summary, cell_names, pairing);
  const auto compared = std::ranges::count_if(
      result.cells, [&](const CellChange& cell) { return can_be_told(cell, pairing); });
  if (compared > 0) {
    result.confidence = stats::confidence_of_each(static_cast<std::size_t>(compared));
  }
  for (CellChange& cell : result.cells) {
    if (can_be_told(cell, pairing)) {
      judge(cell, pairing, result.confidence, result.rule);
    } else {
      leave_unsure(cell, pairing);
    }
    add_energy(cell, pairing);
    add_marks(cell, names);
  }
  for (std::string& note : change_notes(before, after, names)) {
    result.notes.push_back(std::move(note));
  }
  result.lost = lost_cells(before_summary, after_summary, cell_names);
  add_lonely_cells(result.notes, before_summary, after_summary, result.cells, cell_names, names);
  add_failed(result.notes, result.lost, before_summary, cell_names, names);
  return result;
}

}  // namespace tandem::reports
