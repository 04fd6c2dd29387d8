// SPDX-License-Identifier: Apache-2.0
#include "reports/report.h"

#include <fmt/format.h>

#include "common/base/units.h"
#include "reports/cell_table.h"
#include "reports/format.h"
#include "reports/subject.h"

namespace tandem::reports {
namespace {

using Facts = std::vector<std::pair<std::string, std::string>>;

void add(Facts& facts, const std::string& name, const std::string& value) {
  if (!value.empty()) facts.emplace_back(name, value);
}

void add_all(Facts& facts, const std::string& prefix,
             const std::map<std::string, std::string>& values) {
  for (const auto& [name, value] : values) add(facts, prefix + name, value);
}

std::string loads_text(const std::vector<double>& loads) {
  std::vector<std::string> parts;
  for (const double load : loads) parts.push_back(fmt::format("{:.2f}", load));
  return join(parts, ", ");
}

}  // namespace

Report make_report(results::Document document) {
  Report report{.document = std::move(document), .summary = {}, .verdict = {}};
  report.summary = summarize(report.document);
  report.verdict = verdict(report.document, report.summary);
  return report;
}

std::vector<std::string> method_lines(const Report& report) {
  const int launches = report.document.sweep.launches_per_cell;
  return {
      fmt::format("The unit of statistics is the launch: a fresh group of processes per cell and "
                  "launch{}, all cells interleaved in a shuffled order.",
                  launches > 0 ? fmt::format(" ({} planned per cell)", launches) : ""),
      fmt::format("Steps, speed-ups and the verdict: {}, back-transformed; ratios by Welch's t. "
                  "A ratio whose interval holds 1 is not resolved.",
                  stats::kMethod),
      "Throughput: global batch / mean step, with a t interval on launch means; none is shown "
      "where the "
      "launches scatter so much that its time would reach zero.",
      "Each interval stands alone: of 20 such intervals about one misses.",
      "Speed-up and efficiency (speed-up / devices) are against single: one device, no wrapper, "
      "same model and global batch.",
      "Phases: means per step of one device: the root for dp, else the device that was slowest on "
      "average. Remainder: mean over samples of step minus that sample's slowest device (dp: minus "
      "the root), so with several ranks phases and remainder need not add up exactly to the mean "
      "step."};
}

Facts machine_lines(const Report& report) {
  const results::MachineFacts machine = machine_of(report.document);
  const results::Context& context = report.document.sweep.context;
  Facts facts;
  add(facts, "host", machine.host_name.empty() ? context.host_name : machine.host_name);
  add(facts, "CPU", machine.cpu_model);
  if (machine.cores > 0) add(facts, "cores that a launch may use", std::to_string(machine.cores));
  if (machine.memory_bytes > 0) add(facts, "memory", to_string(Bytes{machine.memory_bytes}));
  if (machine.page_bytes > 0) add(facts, "page", to_string(Bytes{machine.page_bytes}));
  if (machine.ping_pong_ns > 0) {
    add(facts, "ping-pong between two cores, one way",
        fmt::format("{:.0f} ns", machine.ping_pong_ns));
  }
  add(facts, "kernel", machine.kernel);
  add_all(facts, "", machine.libraries);
  add_all(facts, "variable ", machine.variables);
  add(facts, "load average at the start", loads_text(context.load_avg));
  add(facts, "frequency scaling", context.cpu_scaling_enabled ? "on (not 'performance')" : "");
  add(facts, "measured", context.date);
  add_all(facts, "", context.custom);
  return facts;
}

std::string to_terminal(const Report& report) {
  return to_text(brief_cell_table(report.summary)) + "\n" + to_text(report.verdict);
}

}  // namespace tandem::reports
