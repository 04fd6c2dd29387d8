// SPDX-License-Identifier: Apache-2.0
#include "reports/model/rounds.h"

#include <fmt/format.h>

#include <map>

#include "reports/model/subject.h"
#include "reports/text/format.h"

namespace tandem::reports {

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

RoundMedians in_rounds(const CellSummary& before, const CellSummary& after) {
  std::map<int, double> by_round;
  for (std::size_t i = 0; i < before.measured.size(); ++i) {
    by_round[before.measured[i]->launch_index] = before.medians[i];
  }
  RoundMedians rounds;
  for (std::size_t i = 0; i < after.measured.size(); ++i) {
    const auto found = by_round.find(after.measured[i]->launch_index);
    if (found == by_round.end()) continue;
    rounds.before.push_back(found->second);
    rounds.after.push_back(after.medians[i]);
  }
  return rounds;
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
