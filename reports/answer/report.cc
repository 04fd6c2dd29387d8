// SPDX-License-Identifier: Apache-2.0
#include "reports/answer/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "common/base/units.h"
#include "common/stats/rounds.h"
#include "reports/model/notes.h"
#include "reports/model/subject.h"
#include "reports/text/format.h"

namespace tandem::reports {
namespace {

using FactList = std::vector<std::pair<std::string, std::string>>;

void add(FactList& facts, const std::string& name, const std::string& value) {
  if (!value.empty()) facts.emplace_back(name, value);
}

void add_all(FactList& facts, const std::string& prefix,
             const std::map<std::string, std::string>& values) {
  for (const auto& [name, value] : values) add(facts, prefix + name, value);
}

std::string loads_text(const std::vector<double>& loads) {
  std::vector<std::string> parts;
  for (const double load : loads) parts.push_back(fmt::format("{:.2f}", load));
  return join(parts, ", ");
}

// The ping-pong times over all launches, since each launch may run on other cores.
std::string ping_pong_text(const results::Document& document) {
  std::vector<double> times;
  for (const results::LaunchRecord& record : document.launches) {
    const double time = record.machine.ping_pong_ns;
    if (record.status == results::Status::kOk && time > 0) times.push_back(time);
  }
  if (times.empty()) return "";
  const auto [least, most] = std::ranges::minmax_element(times);
  const std::string low = fmt::format("{:.0f}", *least);
  const std::string high = fmt::format("{:.0f}", *most);
  if (low == high) return low + " ns";
  return fmt::format("{} to {} ns over launches", low, high);
}

// Whether a key of results.json repeats a fact that the report shows, or concerns only the file.
bool says_nothing_new(const std::string& key) {
  constexpr std::array<std::string_view, 7> kKeys{"tandem_programs_checksum",
                                                  "tandem_cores",
                                                  "tandem_cpu_model",
                                                  "tandem_cpu_time",
                                                  kStanding,
                                                  kHalfWidths,
                                                  kProjectedAnswer};
  return std::ranges::find(kKeys, key) != kKeys.end();
}

// The key "tandem_version" as "tandem version".
std::string readable(std::string key) {
  std::ranges::replace(key, '_', ' ');
  return key;
}

}  // namespace

Report make_report(results::Document document, std::vector<ProjectedDocument> projected) {
  Report report;
  report.projected = std::move(projected);
  report.document = std::move(document);
  report.summary = summarize(report.document);
  report.verdict = verdict(report.document, report.summary);
  // A projection's answer says what limits dp and ddp.
  const bool is_answered = report.document.sweep.context.custom.contains(kProjectedAnswer);
  if (!is_answered) report.advice = advice(report.summary);
  report.explanations = explained_points(report.document, report.summary);
  return report;
}

std::vector<std::string> method_lines(const Report& report) {
  const int launches = report.document.sweep.launches_per_cell;
  std::vector<std::string> lines{
      fmt::format("The unit of statistics is the launch: a fresh group of processes per cell and "
                  "launch{}, all cells interleaved in a shuffled order.",
                  launches > 0 ? fmt::format(" ({} planned per cell)", launches) : ""),
      fmt::format("Steps, speed-ups and the verdict: {}, back-transformed.", stats::kMethod),
      "Throughput: a t interval on launch means. cells.csv leaves the end of an interval empty "
      "where it is unbounded or, for a mean time, below zero.",
      "Each interval stands alone: of 20 such intervals about one misses."};
  if (const auto& looks = report.document.sweep.resolving) {
    lines.push_back(
        fmt::format("dp against ddp on several devices: looked at after each round from {} to {}, "
                    "until resolved or equal within {:g} %; these intervals have a higher "
                    "confidence, and do not stand alone: they hold at all looks and for all {} "
                    "comparisons together in 95 % of such documents.",
                    looks->first_round, looks->last_round, 100 * looks->ratio, looks->comparisons));
  }
  return lines;
}

FactList machine_lines(const Report& report) {
  const results::MachineFacts machine = machine_of(report.document);
  const results::Context& context = report.document.sweep.context;
  FactList facts;
  add(facts, "host", machine.host_name.empty() ? context.host_name : machine.host_name);
  add(facts, "CPU", machine.cpu_model);
  if (machine.cores > 0) add(facts, "cores that a launch may use", std::to_string(machine.cores));
  for (const auto& [name, value] : gpu_facts(report.document)) add(facts, name, value);
  if (machine.memory_bytes > 0) add(facts, "memory", to_string(Bytes{machine.memory_bytes}));
  if (machine.page_bytes > 0) add(facts, "page", to_string(Bytes{machine.page_bytes}));
  if (machine.numa_nodes > 0) add(facts, "NUMA nodes", std::to_string(machine.numa_nodes));
  add(facts, "transparent huge pages", machine.huge_pages);
  add(facts, "container", machine.container);
  add(facts, "Slurm job", machine.slurm_job);
  add(facts, "core to core, one way", ping_pong_text(report.document));
  add(facts, "kernel", machine.kernel);
  add_all(facts, "", machine.libraries);
  add_all(facts, "variable ", machine.variables);
  add(facts, "load average at the start", loads_text(context.load_avg));
  add(facts, "frequency scaling", context.cpu_scaling_enabled ? "on (not 'performance')" : "");
  add(facts, "measured", context.date);
  for (const auto& [name, value] : context.custom) {
    if (!says_nothing_new(name)) add(facts, readable(name), value);
  }
  return facts;
}

}  // namespace tandem::reports
