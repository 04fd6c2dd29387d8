// SPDX-License-Identifier: Apache-2.0
#include "reports/model/subject.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "reports/format.h"
#include "reports/model/implementation.h"

namespace tandem::reports {

results::MachineFacts machine_of(const results::Document& document) {
  results::MachineFacts machine;
  std::map<std::string, std::string> others;  // libraries of another implementation
  for (const results::LaunchRecord& record : document.launches) {
    if (record.status != results::Status::kOk) continue;
    const bool is_own = implementation_of(record.cell).empty();
    if (is_own && record.machine.cores > machine.cores) machine = record.machine;
    if (!is_own) others.merge(std::map(record.machine.libraries));
  }
  machine.libraries.merge(others);
  return machine;
}

namespace {

// The text " on 2 nodes (a, b)"; empty for one node.
std::string where(const results::MachineFacts& machine) {
  if (machine.hosts.size() < 2) return "";
  return fmt::format(" on {} ({})", count_text(std::ssize(machine.hosts), "node"),
                     fmt::join(machine.hosts, ", "));
}

}  // namespace

std::string subject(const results::Document& document, const Summary& summary) {
  std::set<std::string> backends;
  int most_devices = 0;
  for (const CellSummary& cell : summary.cells) {
    if (cell.launches == 0) continue;
    backends.insert(cell.cell.backend);
    most_devices = std::max(most_devices, cell.cell.devices);
  }
  if (backends.empty()) return "Nothing was measured";
  const results::MachineFacts machine = machine_of(document);
  const std::string cpu = machine.cpu_model.empty() ? "an unnamed CPU" : machine.cpu_model;
  if (backends == std::set<std::string>{"host"}) {
    return fmt::format("CPU only: {} of {}{}, says nothing about GPUs",
                       count_text(machine.cores, "core"), cpu, where(machine));
  }
  const auto device = machine.libraries.find("device");
  const std::string name = device == machine.libraries.end() ? "unnamed" : device->second;
  if (backends.contains("host")) {
    return fmt::format("Mixed: GPUs ({}) and {} of {}{}; figures of the two never meet", name,
                       count_text(machine.cores, "core"), cpu, where(machine));
  }
  return fmt::format("{}x GPU ({}), driven by {}{}", most_devices, name, cpu, where(machine));
}

}  // namespace tandem::reports
