// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/report/redaction.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "common/json/parse.h"
#include "common/json/writer.h"

namespace tandem::cli {
namespace {

constexpr const char* kRemoved = "[removed]";
// The fact in a redacted document's context that lists what is not in it.
constexpr const char* kRemovedFact = "tandem_removed";

void remove_text(std::string& text) {
  if (!text.empty()) text = kRemoved;
}

// A fact that Tandem records of a machine or library is kept, unless it is a path.
void remove_path(std::string& fact) {
  if (fact.find('/') != std::string::npos) fact = kRemoved;
}

// The user's choice of GPUs may name serials; the values of all other options are Tandem's own.
void remove_gpus(std::string& cell_name) {
  constexpr std::string_view kGpus = "/gpus:";
  const std::size_t begin = cell_name.find(kGpus);
  if (begin == std::string::npos) return;
  const std::size_t value = begin + kGpus.size();
  cell_name.replace(value, std::min(cell_name.find('/', value), cell_name.size()) - value,
                    kRemoved);
}

// "host1", "host2", ... in the order in which the hosts are met.
class HostNumbers {
 public:
  void replace(std::string& host) {
    if (host.empty()) return;
    const auto place = std::ranges::find(hosts_, host);
    const auto number = place - hosts_.begin() + 1;
    if (place == hosts_.end()) hosts_.push_back(host);
    host = fmt::format("host{}", number);
  }

 private:
  std::vector<std::string> hosts_;
};

void redact(results::SweepInfo& sweep, HostNumbers& hosts) {
  sweep.definition.clear();
  sweep.commands.clear();
  for (results::DroppedCells& dropped : sweep.dropped) {
    remove_text(dropped.reason);
    for (std::string& name : dropped.cells) remove_gpus(name);
  }
  for (results::Addition& addition : sweep.additions) {
    for (std::string& name : addition.cells) remove_gpus(name);
  }
  hosts.replace(sweep.context.host_name);
  remove_text(sweep.context.executable);
  for (auto& [name, value] : sweep.context.custom) remove_path(value);
}

void redact(results::LaunchRecord& record, HostNumbers& hosts) {
  remove_text(record.reason);
  remove_text(record.stderr_tail);
  for (std::string& warning : record.warnings) remove_text(warning);
  record.cell.model.erase(0, record.cell.model.rfind('/') + 1);
  const auto gpus = record.cell.options.find("gpus");
  if (gpus != record.cell.options.end()) remove_text(gpus->second);
  results::MachineFacts& machine = record.machine;
  hosts.replace(machine.host_name);
  for (std::string& host : machine.hosts) hosts.replace(host);
  for (auto& [name, value] : machine.libraries) remove_path(value);
  for (auto& [name, value] : machine.variables) remove_text(value);
  if (!machine.slurm_job.empty()) machine.slurm_job = "a job";
  for (results::GpuRecord& gpu : record.gpus) gpu.hardware = gpu.pci;  // without the serial
}

// Keeps an entry's figures, and of its texts the names that programs give.
void redact(results::OtherEntry& entry) {
  constexpr std::array<std::string_view, 5> kKept{"name", "run_name", "run_type", "time_unit",
                                                  "tandem_source"};
  const JsonDocument json(JsonAuthor::kProgram, entry.json, entry.source);
  std::string line;
  JsonWriter writer(line);
  writer.open("", '{');
  for (const JsonValue member : json.root()) {
    const bool is_named = std::ranges::find(kKept, member.key()) != kKept.end();
    if (is_named || member.is_number() || member.kind() == JsonKind::kBoolean) {
      writer.copy(member.key(), member);
    } else if (member.is_text()) {
      writer.value(member.key(), std::string(kRemoved));
    }
  }
  writer.close();
  entry.json = std::move(line);
}

}  // namespace

bool is_redacted(const results::Document& document) {
  return document.sweep.context.custom.contains(kRemovedFact);
}

std::string redacted(results::Document document) {
  HostNumbers hosts;
  for (results::LaunchRecord& record : document.launches) redact(record, hosts);
  redact(document.sweep, hosts);
  for (results::OtherEntry& entry : document.others) redact(entry);
  document.sweep.context.custom[kRemovedFact] =
      "names of hosts, folders, commands, messages, serials";
  return results::to_json_text(document);
}

}  // namespace tandem::cli
