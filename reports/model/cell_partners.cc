// SPDX-License-Identifier: Apache-2.0
#include "reports/model/cell_partners.h"

#include <fmt/format.h>

#include <array>
#include <set>
#include <utility>

#include "common/stats/rounds.h"
#include "reports/model/subject.h"
#include "reports/text/format.h"

namespace tandem::reports {
namespace {

std::string name_without(results::Cell cell, const std::vector<std::string>& options) {
  for (const std::string& option : options) cell.options.erase(option);
  return cell.name();
}

}  // namespace

CellIdentity identity_of(const CellSummary& cell, const std::vector<std::string>& without) {
  return {name_without(cell.cell, without), cell.cell.backend, cell.mode, cell.modelled,
          cell.planted};
}

CellNames::CellNames(std::vector<std::string> without)
    : without_(std::move(without)), bare_(without_) {
  bare_.insert(bare_.end(), {"plant", "fault"});
}

std::string CellNames::own(const results::Cell& cell) const { return name_without(cell, without_); }

std::string CellNames::bare(const results::Cell& cell) const { return name_without(cell, bare_); }

CellIdentity CellNames::identity(const CellSummary& cell) const {
  return identity_of(cell, without_);
}

CellIdentity CellNames::bare_identity(const CellSummary& cell) const {
  return {bare(cell.cell), cell.cell.backend, cell.mode, cell.modelled, ""};
}

Partners::Partners(const Summary& summary, const Summary& others, const CellNames& names)
    : names_(names) {
  std::set<CellIdentity> taken;
  for (const CellSummary& other : others.cells) {
    if (other.launches > 0) taken.insert(names.identity(other));
  }
  for (const CellSummary& cell : summary.cells) {
    if (cell.launches == 0) continue;
    same_.emplace(names.identity(cell), &cell);
    if (!taken.contains(names.identity(cell))) free_.emplace(names.bare_identity(cell), &cell);
  }
}

const CellSummary* Partners::of(const CellSummary& cell) const {
  const auto same = same_.find(names_.identity(cell));
  if (same != same_.end()) return same->second;
  const auto free = free_.find(names_.bare_identity(cell));
  if (free == free_.end()) return nullptr;
  return free->second->planted.empty() == cell.planted.empty() ? nullptr : free->second;
}

CellsByName::CellsByName(const Summary& summary, const CellNames& names) : names_(names) {
  for (const CellSummary& cell : summary.cells) {
    own_.emplace(names.own(cell.cell), &cell);
    bare_.insert_or_assign(names.bare(cell.cell), &cell);
  }
}

const CellSummary* CellsByName::find(const CellSummary& wanted) const {
  const auto own = own_.find(names_.own(wanted.cell));
  if (own != own_.end()) return own->second;
  const auto near = bare_.find(names_.bare(wanted.cell));
  return near == bare_.end() ? nullptr : near->second;
}

namespace {

// A cell's values, and the round of each.
struct ValuesOfRounds {
  std::vector<double> values;
  std::vector<int> rounds;
};

ValuesOfRounds medians_of(const CellSummary& cell) {
  ValuesOfRounds found{.values = cell.medians, .rounds = {}};
  for (const results::LaunchRecord* launch : cell.measured) {
    found.rounds.push_back(launch->launch_index);
  }
  return found;
}

ValuesOfRounds joules_of(const CellSummary& cell) {
  ValuesOfRounds found;
  for (const results::LaunchRecord* launch : cell.measured) {
    if (!launch->joules_per_step) continue;
    found.values.push_back(*launch->joules_per_step);
    found.rounds.push_back(launch->launch_index);
  }
  return found;
}

RoundValues of_shared_rounds(const ValuesOfRounds& before, const ValuesOfRounds& after) {
  const std::array<stats::InRounds, 2> cells{{{.values = before.values, .rounds = before.rounds},
                                              {.values = after.values, .rounds = after.rounds}}};
  auto lists = stats::side_by_side(cells, stats::OtherRounds::kLeftOut);
  return {.before = std::move(lists[0]), .after = std::move(lists[1])};
}

}  // namespace

bool are_of_one_run(const results::Document& a, const results::Document& b) {
  const auto& first = a.sweep.against;
  const auto& second = b.sweep.against;
  return first && second && first->run == second->run &&
         first->is_reference != second->is_reference;
}

std::vector<std::string> options_of_reference(const results::Document& a,
                                              const results::Document& b) {
  std::vector<std::string> names;
  if (!are_of_one_run(a, b)) return names;
  for (const auto& [name, value] : a.sweep.against->options) names.push_back(name);
  return names;
}

RoundValues medians_in_rounds(const CellSummary& before, const CellSummary& after) {
  return of_shared_rounds(medians_of(before), medians_of(after));
}

RoundValues joules_in_rounds(const CellSummary& before, const CellSummary& after) {
  return of_shared_rounds(joules_of(before), joules_of(after));
}

std::string reference_text(const results::Against& against) {
  std::string text = against.build.empty() ? "the same build" : "the build " + against.build;
  std::vector<std::string> settings = against.variables;
  for (const auto& [name, value] : against.options) {
    settings.push_back(fmt::format("--{}={}", name, value));
  }
  return settings.empty() ? text : fmt::format("{}, with {}", text, join(settings, ", "));
}

std::string side_text(const results::Document& document) {
  const auto& against = document.sweep.against;
  if (!against) return "";
  const std::string what = against->is_reference
                               ? fmt::format("the reference ({})", reference_text(*against))
                               : "the run itself";
  const results::MachineFacts machine = machine_of(document);
  const auto commit = machine.libraries.find("tandem");
  return commit == machine.libraries.end() ? what : fmt::format("{}, {}", what, commit->second);
}

}  // namespace tandem::reports
