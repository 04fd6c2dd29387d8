// SPDX-License-Identifier: Apache-2.0
#include "reports/model/rounds.h"

#include <fmt/format.h>

#include <map>

#include "reports/model/subject.h"
#include "reports/text/format.h"

namespace tandem::reports {
namespace {

// What was set for the reference alone: "with NCCL_ALGO=Ring, --grads=views"; empty: nothing was.
std::string settings_text(const results::Against& against) {
  std::vector<std::string> settings = against.variables;
  for (const auto& [name, value] : against.options) {
    settings.push_back(fmt::format("--{}={}", name, value));
  }
  return settings.empty() ? "" : "with " + join(settings, ", ");
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

std::string side_text(const results::Document& document) {
  const auto& against = document.sweep.against;
  if (!against) return "";
  std::vector<std::string> parts;
  if (!against->is_reference) {
    parts.emplace_back("the run itself");
  } else if (against->build.empty()) {
    parts.emplace_back("the reference: the same build");
  } else {
    parts.push_back("the reference: the build " + against->build);
  }
  const results::MachineFacts machine = machine_of(document);
  const auto commit = machine.libraries.find("tandem");
  if (commit != machine.libraries.end()) parts.push_back(commit->second);
  if (against->is_reference) {
    if (std::string settings = settings_text(*against); !settings.empty()) {
      parts.push_back(std::move(settings));
    }
  }
  return join(parts, ", ");
}

}  // namespace tandem::reports
