// SPDX-License-Identifier: Apache-2.0
#include "reports/model/subject.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <set>
#include <vector>

#include "common/base/dispatch_costs.h"
#include "common/options/strategies.h"
#include "common/options/table.h"
#include "reports/text/format.h"

namespace tandem::reports {

namespace {

constexpr const char* kUsualPrecision = "fp32";
constexpr std::string_view kCosts = "dispatch-cost";
constexpr std::string_view kHardware = "hardware";
constexpr std::string_view kLock = "interpreter-lock";
constexpr const char* kAccumulate = "accumulate";
// The options beside those of models that say which question a cell answers.
constexpr std::array kQuestions{"input", "optimizer", "seed", "plant", kImplementation,
                                // How the step itself is written, partly of torch's cells alone.
                                "fused", "conv-fp32", "channels-last", "read-loss", kAccumulate};

// Whether a figure with this option is no measurement of a machine.
bool is_model(const options::Option& option) {
  return option.of.group == options::Group::kSimulation;
}

// Whether the option's value is costs of many kinds, which the command and the JSON have whole.
bool is_long_costs(const results::Cell& cell, std::string_view option, std::string_view value) {
  return cell.is_simulated() && option == kCosts && has_dispatch_kinds(value);
}

// The text " on 2 nodes (a, b)"; empty for one node.
std::string where(const results::MachineFacts& machine) {
  if (machine.hosts.size() < 2) return "";
  return fmt::format(" on {} ({})", count_text(std::ssize(machine.hosts), "node"),
                     fmt::join(machine.hosts, ", "));
}

}  // namespace

std::string implementation_of(const results::Cell& cell) { return cell.option(kImplementation); }

std::string question_value(const results::Cell& cell, const std::string& option) {
  if (option == kAccumulate && !implementation_of(cell).empty()) return "";
  const std::string value = cell.option(option);
  return value == "off" ? "" : value;
}

std::string sole_implementation(const Summary& summary) {
  if (summary.cells.empty()) return "";
  std::string sole = implementation_of(summary.cells.front().cell);
  const bool is_sole = std::ranges::all_of(
      summary.cells, [&](const CellSummary& cell) { return implementation_of(cell.cell) == sole; });
  return is_sole ? sole : "";
}

bool is_of_subject(const StrategyPair& pair, const Summary& summary) {
  return implementation_of(pair.dp->cell).empty() || !sole_implementation(summary).empty();
}

results::Cell own_cell(const results::Cell& cell) {
  results::Cell own = cell;
  own.options.erase(kImplementation);
  return own;
}

results::Cell asked_cell(results::Cell cell) {
  if (cell.options.erase("hardware") > 0) {
    cell.options.erase("dispatch-cost");
    cell.options.erase("interpreter-lock");
  }
  cell.options.erase("calibration");
  cell.options.erase("single-step");
  cell.backend = "host";
  return cell;
}

std::string modelled_parts(const results::LaunchRecord& record) {
  std::vector<std::string> parts;
  for (const options::Option& option : options::kOptions) {
    std::string name(option.name);
    const std::string value = question_value(record.cell, name);
    if (!is_model(option) || value.empty()) continue;
    const bool is_long = is_long_costs(record.cell, name, value);
    std::ranges::replace(name, '-', ' ');
    parts.push_back(value == "on" ? name : name + " " + (is_long ? "by kind" : value));
  }
  return join(parts.empty() ? record.modelled : parts, ", ");
}

std::string precision_of(const results::Cell& cell) {
  return cell.option("precision", kUsualPrecision);
}

std::string precision_suffix(const results::Cell& cell) {
  const std::string precision = precision_of(cell);
  return precision == kUsualPrecision ? "" : ", " + precision;
}

bool is_replayed(const results::Cell& cell) { return !question_value(cell, "cuda-graph").empty(); }

bool is_plain(const results::Cell& cell) {
  return cell.options.size() == cell.options.count("precision");
}

bool shares_interpreter(const results::Cell& cell) {
  return cell.launch == name_of(options::Launch::kThreads) &&
         cell.strategy != name_of(options::StrategyKind::kSingle);
}

bool same_question(const results::Cell& a, const results::Cell& b) {
  if (precision_of(a) != precision_of(b) || is_replayed(a) != is_replayed(b)) return false;
  // The lock is no part of the question where one of the two has nothing to lock.
  const bool has_lock = shares_interpreter(a) && shares_interpreter(b);
  const auto is_alike = [&](const std::string& option) {
    return question_value(a, option) == question_value(b, option) || (option == kLock && !has_lock);
  };
  return std::ranges::all_of(kQuestions, is_alike) &&
         std::ranges::all_of(options::kOptions, [&](const options::Option& option) {
           return !is_model(option) || is_alike(std::string(option.name));
         });
}

std::string spoken_model(const results::Cell& cell) {
  return cell.model.substr(0, cell.model.find('#'));
}

std::string point_text(const results::Cell& cell) {
  return fmt::format("{}, batch {}, {}", cell.model, cell.global_batch,
                     count_text(cell.devices, "device"));
}

std::string strategy_label(const results::Cell& cell) {
  const std::string implementation = implementation_of(cell);
  std::string label = implementation.empty() ? "" : implementation + " ";
  label += cell.strategy == name_of(options::StrategyKind::kIndependent) ? kNoCommunication
                                                                         : cell.strategy;
  const options::StrategyTraits* const traits = options::find_strategy(cell.strategy);
  const bool has_both = traits != nullptr && traits->has_both_launches;
  const bool is_usual =
      cell.launch == options::usual_launch(cell.strategy) || options::is_sharding(cell.strategy);
  if (has_both || !is_usual) label += ", " + cell.launch;
  for (const auto& [option, value] : cell.options) {
    // The modelled parts name a projected cell's machine and costs, which all beside it share.
    const bool is_shared = cell.is_simulated() && option == kHardware;
    if (option == kImplementation || is_shared || is_long_costs(cell, option, value)) continue;
    label += ", " + option + "=" + value;
  }
  if (cell.is_pretended()) label += ", pretended";
  if (cell.is_simulated()) label += ", simulated";
  return label;
}

results::MachineFacts machine_of(const results::Document& document) {
  results::MachineFacts machine;
  results::MachineFacts beside;               // as another implementation saw it
  std::map<std::string, std::string> others;  // libraries of another implementation
  for (const results::LaunchRecord& record : document.launches) {
    if (record.status != results::Status::kOk) continue;
    const bool is_own = implementation_of(record.cell).empty();
    if (is_own && record.machine.cores > machine.cores) machine = record.machine;
    if (is_own) continue;
    if (record.machine.cores > beside.cores) beside = record.machine;
    others.merge(std::map(record.machine.libraries));
  }
  if (machine.cores == 0) machine = beside;
  machine.libraries.merge(others);
  return machine;
}

std::string subject(const results::Document& document, const Summary& summary) {
  std::set<std::string> backends;
  int most_devices = 0;
  for (const CellSummary& cell : summary.cells) {
    if (cell.launches == 0) continue;
    backends.insert(cell.cell.backend);
    most_devices = std::max(most_devices, cell.cell.devices);
  }
  if (backends.empty()) return "Nothing was measured";
  if (is_projected(summary)) {
    const auto& facts = document.sweep.context.custom;
    const auto standing = facts.find(kStanding);
    if (standing != facts.end()) return standing->second;
    return "Projected: every time is simulated, nothing was measured";
  }
  const results::MachineFacts machine = machine_of(document);
  const std::string cpu = machine.cpu_model.empty() ? "an unnamed CPU" : machine.cpu_model;
  if (backends == std::set<std::string>{"host"}) {
    return fmt::format("CPU only: {} of {}{}, says nothing about GPUs",
                       count_text(machine.cores, "core"), cpu, where(machine));
  }
  const bool is_pretended = std::ranges::any_of(backends, [](const std::string& backend) {
    return backend.starts_with(results::kPretended);
  });
  const auto device = machine.libraries.find(is_pretended ? "pretended device" : "device");
  const std::string name = device == machine.libraries.end() ? "unnamed" : device->second;
  if (is_pretended) {
    return fmt::format("Pretended GPUs ({}): host work measured, nothing computed; {} of {}{}",
                       name, count_text(machine.cores, "core"), cpu, where(machine));
  }
  return fmt::format("{}x GPU ({}), driven by {}{}", most_devices, name, cpu, where(machine));
}

}  // namespace tandem::reports
