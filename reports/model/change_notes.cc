// SPDX-License-Identifier: Apache-2.0
#include "reports/model/change_notes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "reports/model/subject.h"
#include "reports/text/format.h"

namespace tandem::reports {
namespace {

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
  if (version != custom.end()) add(facts, "tandem", version->second);
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
  const auto shared =
      std::count_if(after.launches.begin(), after.launches.end(), [&](const auto& launch) {
        return launch.status == results::Status::kOk && seen.contains(times_of(launch));
      });
  if (shared == 0) return;
  lines.push_back(fmt::format("{} both in {} and in {}: compared with itself, a run never differs",
                              count_text(shared, "launch") + (shared == 1 ? " is" : " are"),
                              names.before, names.after));
}

// Adds "only A measured 7 cells: name, name (B: failed: reason), ... and 2 more".
void add_lonely(std::vector<std::string>& lines, const std::string& own, const std::string& other,
                const std::vector<const CellSummary*>& cells, const Summary& others) {
  if (cells.empty()) return;
  std::vector<std::string> names;
  for (const CellSummary* cell : cells) {
    if (names.size() == kMostNamed) break;
    std::string name = cell->cell.name();
    for (const CellSummary& there : others.cells) {
      if (there.launches > 0 || there.cell.name() != name || there.mode != cell->mode) continue;
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

}  // namespace

std::vector<std::string> change_notes(const results::Document& before,
                                      const results::Document& after, const DocumentNames& names) {
  std::vector<std::string> lines;
  add_differences(lines, "machines differ", machine_facts(before), machine_facts(after));
  add_differences(lines, "software differs", software_facts(before), software_facts(after));
  add_load(lines, before.sweep.context, after.sweep.context);
  add_shared(lines, before, after, names);
  return lines;
}

std::vector<std::string> lonely_cells(const Summary& before, const Summary& after,
                                      const std::vector<CellChange>& common,
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
  std::vector<std::string> lines;
  add_lonely(lines, names.before, names.after, left_of(before), after);
  add_lonely(lines, names.after, names.before, left_of(after), before);
  return lines;
}

}  // namespace tandem::reports
