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
#include "reports/model/notes.h"
#include "reports/model/subject.h"
#include "reports/text/format.h"

namespace tandem::reports {

namespace {

using stats::Change;

enum class Pairing { kOfTwoRuns, kInRounds };

// What two cells share to be the same cell: name, back end, mode and modelled parts.
using CellIdentity = std::tuple<std::string, std::string, std::string, std::string>;

std::string name_without(results::Cell cell, const std::vector<std::string>& options) {
  for (const std::string& option : options) cell.options.erase(option);
  return cell.name();
}

// The cells of a document by identity and by name. A cell that is not there by its own is found by
// what is left without the delay or fault that was planted into it. Points into the summary.
class CellIndex {
 public:
  // `reference_options` are no difference between cells.
  CellIndex(const Summary& summary, const std::vector<std::string>& reference_options)
      : ignored_(reference_options), planted_(reference_options) {
    planted_.insert(planted_.end(), {"plant", "fault"});
    for (const CellSummary& cell : summary.cells) {
      named_.emplace(name(cell), &cell);
      bare_named_.insert_or_assign(name_without(cell.cell, planted_), &cell);
      if (cell.launches == 0) continue;
      same_.emplace(identity(cell, ignored_), &cell);
      bare_same_.emplace(identity(cell, planted_), &cell);
    }
  }

  [[nodiscard]] std::string name(const CellSummary& cell) const {
    return name_without(cell.cell, ignored_);
  }

  // The measured cell that is the same as `cell` of the document that `other` indexes; null where
  // there is none.
  [[nodiscard]] const CellSummary* partner_of(const CellSummary& cell,
                                              const CellIndex& other) const {
    if (const auto* const same = found(same_, identity(cell, ignored_))) return same;
    const CellSummary* const bare = found(bare_same_, identity(cell, planted_));
    const bool is_free = bare != nullptr && bare->planted.empty() != cell.planted.empty() &&
                         found(other.same_, identity(*bare, ignored_)) == nullptr;
    return is_free ? bare : nullptr;
  }

  // The cell of that name, measured or not; null where the document does not have it.
  [[nodiscard]] const CellSummary* find(const CellSummary& wanted) const {
    const CellSummary* const own = found(named_, name(wanted));
    return own != nullptr ? own : found(bare_named_, name_without(wanted.cell, planted_));
  }

 private:
  static CellIdentity identity(const CellSummary& cell, const std::vector<std::string>& without) {
    return {name_without(cell.cell, without), cell.cell.backend, cell.mode, cell.modelled};
  }

  template <class Key>
  static const CellSummary* found(const std::map<Key, const CellSummary*>& cells, const Key& key) {
    const auto place = cells.find(key);
    return place == cells.end() ? nullptr : place->second;
  }

  std::vector<std::string> ignored_;
  std::vector<std::string> planted_;
  std::map<std::string, const CellSummary*> named_{};
  std::map<std::string, const CellSummary*> bare_named_{};
  std::map<CellIdentity, const CellSummary*> same_{};
  std::map<CellIdentity, const CellSummary*> bare_same_{};
};

// Whether the documents are the two sides of one run, in either order.
bool are_of_one_run(const results::Document& a, const results::Document& b) {
  const auto& first = a.sweep.against;
  const auto& second = b.sweep.against;
  return first && second && first->run == second->run &&
         first->is_reference != second->is_reference;
}

// The medians of the launches of two cells of one run, in the rounds that both have.
std::vector<std::vector<double>> medians_in_rounds(const CellSummary& before,
                                                   const CellSummary& after) {
  const std::array<stats::InRounds, 2> cells{{{.values = before.medians, .rounds = before.rounds},
                                              {.values = after.medians, .rounds = after.rounds}}};
  return stats::side_by_side(cells, stats::OtherRounds::kLeftOut);
}

bool has_interval(const CellChange& cell, Pairing pairing) {
  if (pairing == Pairing::kInRounds) return cell.rounds >= 2;
  return cell.before->launches >= 2 && cell.after->launches >= 2;
}

// Adds the cell's marks as "A: drifts: ...", without the letter where both documents have the mark.
void add_marks(CellChange& cell) {
  const std::vector<std::string> before = marks_of(*cell.before);
  const std::vector<std::string> after = marks_of(*cell.after);
  const auto holds = [](const std::vector<std::string>& list, const std::string& mark) {
    return std::ranges::find(list, mark) != list.end();
  };
  for (const std::string& mark : before) {
    cell.remarks.push_back(holds(after, mark) ? mark : "A: " + mark);
  }
  for (const std::string& mark : after) {
    if (!holds(before, mark)) cell.remarks.push_back("B: " + mark);
  }
}

void estimate(CellChange& cell, Pairing pairing, double confidence, const ChangeRule& rule) {
  if (pairing == Pairing::kInRounds) {
    const auto medians = medians_in_rounds(*cell.before, *cell.after);
    cell.time_ratio = stats::ratio_in_rounds(medians[1], medians[0], confidence);
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

std::vector<CellChange> common_cells(const Summary& before, const CellIndex& before_index,
                                     const CellIndex& after_index, Pairing pairing) {
  std::vector<CellChange> cells;
  for (const CellSummary& cell : before.cells) {
    const CellSummary* const partner =
        cell.launches > 0 ? after_index.partner_of(cell, before_index) : nullptr;
    if (partner == nullptr) continue;
    CellChange common;
    common.before = &cell;
    common.after = partner;
    if (pairing == Pairing::kInRounds) {
      common.rounds = static_cast<int>(medians_in_rounds(cell, *partner)[1].size());
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

// Adds "only A measured 7 cells: name, name (B: failed: reason), ... and 2 more".
void add_lonely(std::vector<std::string>& lines, const std::string& own, const std::string& other,
                const std::vector<const CellSummary*>& cells, const Summary& others,
                const CellIndex& index) {
  if (cells.empty()) return;
  std::vector<std::string> names;
  for (const CellSummary* cell : cells) {
    if (names.size() == kMostNamed) break;
    std::string name = cell->cell.name();
    const std::string wanted = index.name(*cell);
    for (const CellSummary& there : others.cells) {
      const bool is_it = index.name(there) == wanted && there.mode == cell->mode;
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
// cause of a change: the machines, their software and variables.
std::vector<std::string> change_notes(const results::Document& before,
                                      const results::Document& after) {
  std::vector<std::string> lines;
  const bool are_known = machine_of(before).cores > 0 && machine_of(after).cores > 0;
  if (are_known) {  // a document without a measured launch tells of neither
    add_differences(lines, "machines differ", machine_facts(before), machine_facts(after));
    add_differences(lines, "software differs", software_facts(before), software_facts(after));
  }
  return lines;
}

// Adds the cells that only one document measured, with the reason where the other document tells a
// reason.
void add_lonely_cells(std::vector<std::string>& lines, const Summary& before, const Summary& after,
                      const std::vector<CellChange>& common, const CellIndex& index) {
  std::set<const CellSummary*> met;
  for (const CellChange& cell : common) met.insert({cell.before, cell.after});
  const auto left_of = [&](const Summary& summary) {
    std::vector<const CellSummary*> left;
    for (const CellSummary& cell : summary.cells) {
      if (cell.launches > 0 && !met.contains(&cell)) left.push_back(&cell);
    }
    return left;
  };
  add_lonely(lines, "A", "B", left_of(before), after, index);
  add_lonely(lines, "B", "A", left_of(after), before, index);
}

bool has_failed(const CellSummary& cell) {
  return cell.failed_launches > 0 || cell.status == results::Status::kFailed;
}

std::vector<LostCell> lost_cells(const Summary& before, const Summary& after,
                                 const CellIndex& before_index, const CellIndex& after_index) {
  std::vector<LostCell> lost;
  for (const CellSummary& cell : after.cells) {
    const CellSummary* const then = before_index.find(cell);
    const bool is_skipped = cell.launches == 0 && then != nullptr && then->launches > 0;
    if (has_failed(cell) || is_skipped) lost.push_back({.cell = &cell});
  }
  for (const CellSummary& cell : before.cells) {
    if (cell.launches == 0 || after_index.find(cell) != nullptr) continue;
    lost.push_back({.cell = &cell, .is_missing = true});
  }
  return lost;
}

// Names cells of which launches failed in the second document, but those that no launch of it
// measured and the first document did: another line names these.
void add_failed(std::vector<std::string>& lines, const std::vector<LostCell>& lost,
                const CellIndex& before_index) {
  std::vector<std::string> failed;
  for (const LostCell& one : lost) {
    const CellSummary& cell = *one.cell;
    const CellSummary* const then = before_index.find(cell);
    const bool is_lonely = cell.launches == 0 && then != nullptr && then->launches > 0;
    if (one.is_missing || is_lonely) continue;
    const bool failed_before = then != nullptr && has_failed(*then);
    failed.push_back(fmt::format("{} ({}{})", cell.cell.name(), cell.reason,
                                 failed_before ? "; failed in A too" : ""));
    if (failed.size() == kMostNamed) break;
  }
  if (failed.empty()) return;
  lines.push_back("in B launches failed: " + join(failed, ", "));
}

// What a side of a run was: "the reference (the build /before, with NCCL_ALGO=Ring), commit
// 0123456789ab", or "the run itself, commit ...".
std::string side_text(const results::Document& document) {
  const results::Against& against = *document.sweep.against;
  const std::string what = against.is_reference
                               ? fmt::format("the reference ({})", reference_text(against))
                               : "the run itself";
  const results::MachineFacts machine = machine_of(document);
  const auto commit = machine.libraries.find("tandem");
  return commit == machine.libraries.end() ? what : fmt::format("{}, {}", what, commit->second);
}

// What both sides were; a deviation between runs does not apply.
void describe_sides(DocumentChange& changes, const results::Document& before,
                    const results::Document& after) {
  changes.sides = fmt::format("A is {}. B is {}.", side_text(before), side_text(after));
  if (std::exchange(changes.rule.between_runs, 0) == 0) return;
  changes.notes.emplace_back(
      "--between-runs does nothing here: both sides took turns in one run, and a round has no "
      "scatter between runs");
}

// The names of the options that only the reference's cells have.
std::vector<std::string> reference_options(const results::Document& of_one_run) {
  std::vector<std::string> names;
  for (const auto& [name, value] : of_one_run.sweep.against->options) names.push_back(name);
  return names;
}

}  // namespace

std::string reference_text(const results::Against& against) {
  std::string text = against.build.empty() ? "the same build" : "the build " + against.build;
  std::vector<std::string> settings = against.variables;
  for (const auto& [name, value] : against.options) {
    settings.push_back(fmt::format("--{}={}", name, value));
  }
  return settings.empty() ? text : fmt::format("{}, with {}", text, join(settings, ", "));
}

std::string change_ratio_text(const stats::Estimate& ratio) {
  const auto is_usual = [](double value) { return value >= 0.01 && value < 100; };
  const bool usual =
      is_usual(ratio.center) &&
      (!ratio.interval || (is_usual(ratio.interval->low) && is_usual(ratio.interval->high)));
  if (!usual) return ratio_text(ratio);
  return fixed_text(ratio, 3, "x", 1);
}

std::string change_method(const DocumentChange& changes) {
  if (changes.confidence == 0) return "No cell has two launches on both sides: nothing is judged.";
  const double between = changes.rule.between_runs;
  const std::string what =
      changes.sides.empty()
          ? "Ratios of launch medians"
          : "Both took turns in one run; ratios of the launch medians of each round";
  return fmt::format(
      "{}; above 1 B is slower. The intervals hold together with 95 %, each "
      "with {:.4g} %{}. SAME: within {:g} % either way. UNSURE: too wide to tell; more launches "
      "narrow it.",
      what, 100 * changes.confidence,
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
                                 const ChangeRule& rule) {
  DocumentChange result;
  result.rule = rule;
  const Pairing pairing = are_of_one_run(before, after) ? Pairing::kInRounds : Pairing::kOfTwoRuns;
  std::vector<std::string> ignored;
  if (pairing == Pairing::kInRounds) {
    describe_sides(result, before, after);
    ignored = reference_options(before);
  }
  const CellIndex before_index(before_summary, ignored);
  const CellIndex after_index(after_summary, ignored);
  result.cells = common_cells(before_summary, before_index, after_index, pairing);
  const auto compared = std::ranges::count_if(
      result.cells, [&](const CellChange& cell) { return has_interval(cell, pairing); });
  if (compared > 0) {
    result.confidence = stats::confidence_of_each(static_cast<std::size_t>(compared));
  }
  for (CellChange& cell : result.cells) {
    if (has_interval(cell, pairing)) {
      judge(cell, pairing, result.confidence, result.rule);
    } else {
      leave_unsure(cell, pairing);
    }
    add_marks(cell);
  }
  for (std::string& note : change_notes(before, after)) {
    result.notes.push_back(std::move(note));
  }
  result.lost = lost_cells(before_summary, after_summary, before_index, after_index);
  add_lonely_cells(result.notes, before_summary, after_summary, result.cells, before_index);
  add_failed(result.notes, result.lost, before_index);
  return result;
}

}  // namespace tandem::reports
