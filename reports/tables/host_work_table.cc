// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "reports/model/subject.h"
#include "reports/tables/tables.h"
#include "reports/text/format.h"

namespace tandem::reports {
namespace {

using results::HostPart;
using results::HostThreads;
using results::HostWork;

constexpr const char* kUntold = "-";

// The mean over launches in ms, with its interval.
std::string milliseconds_of(const std::vector<double>& seconds) {
  return seconds.empty() ? kUntold : fixed_text(stats::center_of_means(seconds), 3, "", 1e3);
}

// What a part works on in a step; nothing where the module's own counts do not say it.
struct Pieces {
  double count = 0;
  const char* name = "";
};

Pieces pieces_of(const HostPart& part, const HostWork& work, int devices) {
  static constexpr std::array kPerParameter{"update",
                                            "zero_grad",
                                            "reduction",
                                            "hooks (profiled)",
                                            "bucket copies (profiled)",
                                            "copies back (profiled)"};
  if (part.part == "module") return {part.per_step * work.modules, "module"};
  if (part.part == "replicate") {
    const int pieces = work.modules + work.parameters + work.buffers;
    return {1.0 * devices * pieces, "piece of a replica"};
  }
  const bool is_per_parameter = std::ranges::find(kPerParameter, part.part) != kPerParameter.end();
  return is_per_parameter ? Pieces{1.0 * work.parameters, "parameter"} : Pieces{};
}

// "3.21 us [3.1 .. 3.3] a parameter".
std::string time_of_piece(const std::vector<double>& seconds, const Pieces& pieces) {
  if (pieces.count <= 0 || seconds.empty()) return kUntold;
  const std::string each =
      fixed_text(stats::center_of_means(seconds), 2, " us", 1e6 / pieces.count);
  return fmt::format("{} a {}", each, pieces.name);
}

// What the launches of a cell tell of one part.
struct Samples {
  std::vector<double> wall{}, cpu{}, core{}, others{};
  double per_step = 0;
};

bool is_same(const HostPart& a, const HostPart& b) {
  return a.part == b.part && a.thread == b.thread;
}

Samples samples_of(const HostPart& part, const std::vector<const HostWork*>& launches) {
  Samples samples{.per_step = part.per_step};
  for (const HostWork* work : launches) {
    for (const HostPart& one : work->parts) {
      if (!is_same(one, part)) continue;
      samples.wall.push_back(one.wall_seconds);
      if (!one.cpu_seconds) continue;
      samples.cpu.push_back(*one.cpu_seconds);
      if (!one.run_delay_seconds) continue;
      samples.core.push_back(*one.run_delay_seconds);
      samples.others.push_back(one.wall_seconds - *one.cpu_seconds - *one.run_delay_seconds);
    }
  }
  return samples;
}

void add_part(TextTable& table, const results::Cell& cell, const HostPart& part,
              const std::vector<const HostWork*>& launches) {
  const Samples samples = samples_of(part, launches);
  const Pieces pieces = pieces_of(part, *launches.front(), cell.devices);
  add_point(table, cell,
            {strategy_label(cell), part.part, part.thread, fmt::format("{:g}", samples.per_step),
             time_of_piece(samples.wall, pieces), milliseconds_of(samples.wall),
             milliseconds_of(samples.cpu), milliseconds_of(samples.core),
             milliseconds_of(samples.others)});
}

void add_threads(TextTable& table, const results::Cell& cell, const HostThreads& threads,
                 const std::vector<const HostWork*>& launches) {
  Samples samples;
  for (const HostWork* work : launches) {
    for (const HostThreads& one : work->threads) {
      if (one.kind != threads.kind) continue;
      samples.cpu.push_back(one.cpu_seconds);
      samples.core.push_back(one.run_delay_seconds);
    }
  }
  add_point(
      table, cell,
      {strategy_label(cell), "whole step",
       fmt::format("{} ({})", threads.kind, count_text(threads.threads, "thread")), "1", kUntold,
       kUntold, milliseconds_of(samples.cpu), milliseconds_of(samples.core), kUntold});
}

std::vector<const HostWork*> told_by(const CellSummary& cell) {
  std::vector<const HostWork*> launches;
  for (const results::LaunchRecord* record : cell.measured) {
    if (record->host_work) launches.push_back(&*record->host_work);
  }
  return launches;
}

}  // namespace

TextTable host_work_table(const Summary& summary) {
  TextTable table =
      table_of_points({"strategy", "part", "thread", ">per step", ">wall per piece [95 %]",
                       ">wall, ms [95 %]", ">CPU, ms [95 %]", ">waits for a core, ms [95 %]",
                       ">waits for the lock or a thread, ms [95 %]"});
  for (const CellSummary& cell : summary.cells) {
    const std::vector<const HostWork*> launches = told_by(cell);
    if (launches.empty()) continue;
    for (const HostPart& part : launches.front()->parts) {
      add_part(table, cell.cell, part, launches);
    }
    for (const HostThreads& threads : launches.front()->threads) {
      add_threads(table, cell.cell, threads, launches);
    }
  }
  return table;
}

}  // namespace tandem::reports
