// SPDX-License-Identifier: Apache-2.0
#include "reports/answer/side_by_side.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "common/base/text.h"
#include "reports/model/subject.h"
#include "reports/tables/tables.h"
#include "reports/text/format.h"

namespace tandem::reports {

namespace {

constexpr const char* kAbsent = "-";

// The changes of each further document, by A's cell; null where a document lacks the cell.
std::map<const CellSummary*, std::vector<const CellChange*>> changes_of(const SideBySide& side) {
  std::map<const CellSummary*, std::vector<const CellChange*>> found;
  for (std::size_t i = 0; i < side.changes.size(); ++i) {
    for (const CellChange& cell : side.changes[i].cells) {
      std::vector<const CellChange*>& row = found[cell.before];
      row.resize(side.changes.size(), nullptr);
      row[i] = &cell;
    }
  }
  return found;
}

bool has(const CellChange& cell, const std::string& remark) {
  return std::ranges::find(cell.remarks, remark) != cell.remarks.end();
}

// The remark with the letter of document `name`; a remark that names a document already, or that
// all pairs have, needs no letter.
std::string attributed(const std::string& remark, const std::string& name,
                       const std::vector<const CellChange*>& row) {
  const bool is_told = remark.starts_with(letter(0) + ": ") || remark.starts_with(name + ": ");
  const bool is_alike = std::ranges::all_of(
      row, [&](const CellChange* other) { return other == nullptr || has(*other, remark); });
  return is_told || is_alike ? remark : fmt::format("{}: {}", name, remark);
}

// The remarks of all pairs, each once.
std::string remarks_of(const std::vector<const CellChange*>& row) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (row[i] == nullptr) continue;
    for (const std::string& remark : row[i]->remarks) {
      const std::string text = attributed(remark, letter(i + 1), row);
      if (std::ranges::find(all, text) == all.end()) all.push_back(text);
    }
  }
  return join(all, ", ");
}

void add_cell(TextTable& table, const CellSummary& first,
              const std::vector<const CellChange*>& changes) {
  std::string launches = std::to_string(first.launches);
  std::vector<std::string> fields{strategy_label(first.cell), launches,
                                  duration_text(first.median_step)};
  for (const CellChange* cell : changes) {
    launches += cell == nullptr ? ", 0" : fmt::format(", {}", cell->after->launches);
    if (cell == nullptr) {
      fields.insert(fields.end(), 3, kAbsent);
      continue;
    }
    fields.insert(fields.end(),
                  {duration_text(cell->after->median_step), change_ratio_text(cell->time_ratio),
                   std::string(to_string(cell->change))});
  }
  const bool is_one_pair = changes.size() == 1 && changes[0] != nullptr && changes[0]->rounds > 0;
  fields[1] = is_one_pair ? count_text(changes[0]->rounds, "round") : launches;
  fields.push_back(remarks_of(changes));
  add_point(table, first.cell, fields);
}

TextTable lettered(const SideBySide& side, const std::string& first) {
  TextTable table({first});
  for (std::size_t i = 0; i < side.size(); ++i) table.add_columns({letter(i)});
  return table;
}

using Facts = std::map<std::string, std::string>;

// All names of facts in order of appearance, over all machines.
std::vector<std::string> names_of(const std::vector<Facts>& machines, const SideBySide& side) {
  std::vector<std::string> names;
  std::set<std::string> seen;
  for (const Report& report : side.reports) {
    for (const auto& [name, value] : machine_lines(report)) {
      if (seen.insert(name).second) names.push_back(name);
    }
  }
  std::stable_partition(names.begin(), names.end(), [&](const std::string& name) {
    const auto differs = [&](const Facts& facts) {
      return !facts.contains(name) || facts.at(name) != machines.front().at(name);
    };
    return !machines.front().contains(name) || std::ranges::any_of(machines, differs);
  });
  return names;
}

}  // namespace

std::string letter(std::size_t place) {
  constexpr std::size_t kLetters = 26;
  return place < kLetters ? std::string(1, static_cast<char>('A' + place))
                          : std::to_string(place + 1);
}

SideBySide side_by_side(std::vector<NamedDocument> documents, const ChangeRule& rule) {
  SideBySide side;
  for (NamedDocument& one : documents) {
    side.names.push_back(std::move(one.name));
    side.reports.push_back(make_report(std::move(one.document)));
  }
  const Report& first = side.reports.front();
  for (std::size_t i = 1; i < side.size(); ++i) {
    const Report& next = side.reports[i];
    side.changes.push_back(compare_documents(first.document, first.summary, next.document,
                                             next.summary, rule,
                                             {.before = letter(0), .after = letter(i)}));
  }
  return side;
}

std::vector<std::string> side_lines(const SideBySide& side) {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < side.changes.size(); ++i) {
    lines.push_back(letter(i + 1) + " against A: " + change_counts(side.changes[i]));
  }
  return lines;
}

std::vector<std::string> side_notes(const SideBySide& side) {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < side.changes.size(); ++i) {
    const std::string name = letter(i + 1);
    const DocumentChange& changes = side.changes[i];
    const std::string against = name + " against A: ";
    if (!changes.sides.empty()) lines.push_back(against + changes.sides);
    lines.push_back(against + change_method(changes, {.before = letter(0), .after = name}));
    for (const std::string& note : changes.notes) lines.push_back(against + note);
  }
  for (std::size_t i = 0; i < side.size(); ++i) {
    for (const std::string& note : side.reports[i].verdict.notes) {
      lines.push_back(letter(i) + " by itself: " + note);
    }
  }
  return lines;
}

TextTable documents_table(const SideBySide& side) {
  TextTable table({"", "document", "date", "sweep", ">cells", "hardware", "by itself"});
  for (std::size_t i = 0; i < side.size(); ++i) {
    const Report& report = side.reports[i];
    const auto measured = std::ranges::count_if(
        report.summary.cells, [](const CellSummary& cell) { return cell.launches > 0; });
    table.rows.push_back({letter(i), side.names[i], report.document.sweep.context.date,
                          report.document.sweep.name, std::to_string(measured),
                          report.verdict.subject, headline(report.verdict)});
  }
  return table;
}

TextTable side_table(const SideBySide& side) {
  TextTable table = table_of_points({"strategy", ">n", ">A: median step [95 %]"}, ">dev");
  for (std::size_t i = 1; i < side.size(); ++i) {
    const std::string name = letter(i);
    table.add_columns(
        {">" + name + ": median step [95 %]", ">time " + name + " / A", name + " is"});
  }
  table.add_columns({"remarks"});
  const auto changes = changes_of(side);
  for (const CellSummary& cell : side.reports.front().summary.cells) {
    const auto found = changes.find(&cell);
    if (found != changes.end()) add_cell(table, cell, found->second);
  }
  return table;
}

TextTable facts_table(const SideBySide& side) {
  std::vector<Facts> machines;
  for (const Report& report : side.reports) {
    const auto lines = machine_lines(report);
    machines.emplace_back(lines.begin(), lines.end());
  }
  TextTable table = lettered(side, "fact");
  for (const std::string& name : names_of(machines, side)) {
    std::vector<std::string> row{name};
    for (const Facts& facts : machines)
      row.push_back(facts.contains(name) ? facts.at(name) : kAbsent);
    const bool differs = std::any_of(row.begin() + 2, row.end(),
                                     [&](const std::string& value) { return value != row[1]; });
    row.push_back(differs ? "differs" : "");
    table.rows.push_back(std::move(row));
  }
  table.add_columns({""});
  return table;
}

}  // namespace tandem::reports
