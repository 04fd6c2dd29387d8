// SPDX-License-Identifier: Apache-2.0
#include "reports/model/rounds.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "common/stats/rounds.h"
#include "reports/model/subject.h"
#include "reports/text/format.h"

namespace tandem::reports {
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
