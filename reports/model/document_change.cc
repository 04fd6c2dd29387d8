// SPDX-License-Identifier: Apache-2.0
#include "reports/model/document_change.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "common/stats/comparison.h"
#include "reports/model/notes.h"
#include "reports/model/subject.h"
#include "reports/text/format.h"

namespace tandem::reports {

namespace {

using stats::Change;

// The properties that two equal cells share: name, back end, mode and modelled parts.
using CellIdentity = std::tuple<std::string, std::string, std::string, std::string>;

// The name without what was planted into the cell on purpose.
std::string bare_name(results::Cell cell) {
  cell.options.erase("plant");
  cell.options.erase("fault");
  return cell.name();
}

// The cells of a document by identity and by name. A cell that is not there by its own is found by
// what is left without the delay or fault that was planted into it. Points into the summary.
class CellIndex {
 public:
  explicit CellIndex(const Summary& summary) {
    for (const CellSummary& cell : summary.cells) {
      named_.emplace(cell.cell.name(), &cell);
      bare_named_.insert_or_assign(bare_name(cell.cell), &cell);
      if (cell.launches == 0) continue;
      same_.emplace(identity(cell, cell.cell.name()), &cell);
      bare_same_.emplace(identity(cell, bare_name(cell.cell)), &cell);
    }
  }

  // The measured cell that is the same as `cell` of the document that `other` indexes; null where
  // there is none.
  [[nodiscard]] const CellSummary* partner_of(const CellSummary& cell,
                                              const CellIndex& other) const {
    if (const auto* const same = found(same_, identity(cell, cell.cell.name()))) return same;
    const CellSummary* const bare = found(bare_same_, identity(cell, bare_name(cell.cell)));
    const bool is_free = bare != nullptr && bare->planted.empty() != cell.planted.empty() &&
                         found(other.same_, identity(*bare, bare->cell.name())) == nullptr;
    return is_free ? bare : nullptr;
  }

  // The cell of that name, measured or not; null where the document does not have it.
  [[nodiscard]] const CellSummary* find(const CellSummary& wanted) const {
    const CellSummary* const own = found(named_, wanted.cell.name());
    return own != nullptr ? own : found(bare_named_, bare_name(wanted.cell));
  }

 private:
  static CellIdentity identity(const CellSummary& cell, std::string name) {
    return {std::move(name), cell.cell.backend, cell.mode, cell.modelled};
  }

  template <class Key>
  static const CellSummary* found(const std::map<Key, const CellSummary*>& cells, const Key& key) {
    const auto place = cells.find(key);
    return place == cells.end() ? nullptr : place->second;
  }

  std::map<std::string, const CellSummary*> named_{};
  std::map<std::string, const CellSummary*> bare_named_{};
  std::map<CellIdentity, const CellSummary*> same_{};
  std::map<CellIdentity, const CellSummary*> bare_same_{};
};

bool has_interval(const CellChange& cell) {
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

void judge(CellChange& cell, double confidence, const ChangeRule& rule) {
  cell.time_ratio =
      stats::ratio_by_t(cell.after->medians, cell.before->medians, confidence, rule.between_runs);
  cell.change = stats::judge_change(cell.time_ratio, rule.threshold);
  const bool is_change =
      cell.change == stats::Change::kSlower || cell.change == stats::Change::kFaster;
  if (is_change && stats::is_beyond(cell.time_ratio, rule.threshold)) {
    cell.remarks.push_back(fmt::format("by more than {:g} %", 100 * rule.threshold));
  }
}

// Leaves a ratio without an interval, and says why.
void leave_unsure(CellChange& cell) {
  cell.time_ratio = stats::ratio_by_t(cell.after->medians, cell.before->medians);
  cell.time_ratio.interval.reset();
  cell.remarks.emplace_back("a single launch does not show how launches vary");
}

std::vector<CellChange> common_cells(const Summary& before, const CellIndex& before_index,
                                     const CellIndex& after_index) {
  std::vector<CellChange> cells;
  for (const CellSummary& cell : before.cells) {
    const CellSummary* const partner =
        cell.launches > 0 ? after_index.partner_of(cell, before_index) : nullptr;
    if (partner == nullptr) continue;
    CellChange& common = cells.emplace_back();
    common.before = &cell;
    common.after = partner;
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
                const std::vector<const CellSummary*>& cells, const CellIndex& other_index) {
  if (cells.empty()) return;
  std::vector<std::string> names;
  for (const CellSummary* cell : cells) {
    if (names.size() == kMostNamed) break;
    std::string name = cell->cell.name();
    const CellSummary* const there = other_index.find(*cell);
    if (there != nullptr && there->launches == 0) {
      name += fmt::format(" ({}: {}: {})", other, to_string(there->status), there->reason);
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
  if (are_known) {  // a document without a measured launch has neither
    add_differences(lines, "machines differ", machine_facts(before), machine_facts(after));
    add_differences(lines, "software differs", software_facts(before), software_facts(after));
  }
  return lines;
}

// Adds the cells that only one document measured, with the reason where the other document has a
// reason.
void add_lonely_cells(std::vector<std::string>& lines, const Summary& before, const Summary& after,
                      const std::vector<CellChange>& common, const CellIndex& before_index,
                      const CellIndex& after_index) {
  std::set<const CellSummary*> met;
  for (const CellChange& cell : common) met.insert({cell.before, cell.after});
  const auto left_of = [&](const Summary& summary) {
    std::vector<const CellSummary*> left;
    for (const CellSummary& cell : summary.cells) {
      if (cell.launches > 0 && !met.contains(&cell)) left.push_back(&cell);
    }
    return left;
  };
  add_lonely(lines, "A", "B", left_of(before), after_index);
  add_lonely(lines, "B", "A", left_of(after), before_index);
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

}  // namespace

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
  return fmt::format(
      "Ratios of launch medians; above 1 B is slower. The intervals hold together with 95 %, each "
      "with {:.4g} %{}. SAME: within {:g} % either way. NOT SLOWER: a slow-down of more is "
      "excluded. UNSURE: too wide to decide; more launches narrow it.",
      100 * changes.confidence,
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
  const CellIndex before_index(before_summary);
  const CellIndex after_index(after_summary);
  result.cells = common_cells(before_summary, before_index, after_index);
  const auto compared = std::ranges::count_if(result.cells, has_interval);
  if (compared > 0) {
    result.confidence = stats::confidence_of_each(static_cast<std::size_t>(compared));
  }
  for (CellChange& cell : result.cells) {
    if (has_interval(cell)) {
      judge(cell, result.confidence, result.rule);
    } else {
      leave_unsure(cell);
    }
    add_marks(cell);
  }
  if (const auto alone = std::ssize(result.cells) - compared; alone > 0) {
    result.notes.push_back(
        fmt::format("{} {} UNSURE, since a single launch does not show how launches vary: measure "
                    "A and B with --launches=3 or more",
                    count_text(alone, "cell"), alone == 1 ? "is" : "are"));
  }
  for (std::string& note : change_notes(before, after)) result.notes.push_back(std::move(note));
  result.lost = lost_cells(before_summary, after_summary, before_index, after_index);
  add_lonely_cells(result.notes, before_summary, after_summary, result.cells, before_index,
                   after_index);
  add_failed(result.notes, result.lost, before_index);
  return result;
}

}  // namespace tandem::reports
