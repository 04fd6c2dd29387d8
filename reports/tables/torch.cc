// SPDX-License-Identifier: Apache-2.0
#include "reports/tables/torch.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <sstream>
#include <string>
#include <vector>

#include "common/options/strategies.h"
#include "common/stats/summary.h"
#include "reports/model/notes.h"
#include "reports/model/subject.h"
#include "reports/tables/cells.h"
#include "reports/text/format.h"
#include "reports/text/section_words.h"

namespace tandem::reports {
namespace {

using enum options::StrategyKind;

const CellSummary* counterpart_of(const CellSummary& theirs, const Summary& summary) {
  const results::Cell own = own_cell(theirs.cell);
  for (const CellSummary& other : of_same_workload(summary.cells, theirs.cell)) {
    if (other.cell == own && other.mode == theirs.mode && other.launches > 0) return &other;
  }
  return nullptr;
}

const CellSummary* single_of(const CellSummary& wrapped, const Summary& summary) {
  for (const CellSummary& other : of_same_workload(summary.cells, wrapped.cell)) {
    const bool is_its_own =
        other.cell.strategy == name_of(kSingle) && other.launches > 0 && same_point(other, wrapped);
    if (is_its_own) return &other;
  }
  return nullptr;
}

bool is_wrapper_alone(const CellSummary& cell) {
  const std::string& strategy = cell.cell.strategy;
  return cell.cell.devices == 1 && cell.launches > 0 &&
         (strategy == name_of(kDdp) || strategy == name_of(kDp));
}

bool has_twins(const Summary& summary) {
  return std::ranges::any_of(summary.cells, [](const CellSummary& cell) {
    return cell.launches > 0 && !implementation_of(cell.cell).empty();
  });
}

bool reduces_by_gloo(const CellSummary& cell) {
  if (cell.cell.strategy != name_of(kDdp) || cell.cell.devices < 2) return false;
  return std::ranges::any_of(cell.measured, [](const auto* record) {
    const auto group = record->resolved.find("process group");
    return group != record->resolved.end() && group->second == "gloo";
  });
}

// The rate of torch's linear layers on a core, and the best of a library there, in GFLOP/s: of the
// median launch that says "95.1 GFLOP/s, 150.2 at best".
struct Rates {
  double own = 0;
  double best = 0;
  [[nodiscard]] bool are_apart() const { return own > 0 && own * 3 < best * 2; }
};

Rates rates_of(const CellSummary& cell) {
  std::vector<Rates> found;
  for (const auto* record : cell.measured) {
    const auto said = record->resolved.find("linear layers");
    Rates rates;
    if (said == record->resolved.end()) continue;
    std::istringstream words(said->second);
    std::string unit;
    if (words >> rates.own >> unit >> rates.best) found.push_back(rates);
  }
  if (found.empty()) return {};
  std::ranges::sort(found, {}, [](const Rates& rates) { return rates.own / rates.best; });
  return found[found.size() / 2];
}

std::string rate_words(const StepRatio& pair) {
  if (!implementation_of(pair.over->cell).empty()) return "";  // of the same library
  const Rates rates = rates_of(*pair.of);
  if (!rates.are_apart()) return "";
  return fmt::format(" ({:.2f}x per FLOP/s)", pair.ratio.center * rates.own / rates.best);
}

std::string ratio_cell(const stats::Estimate& ratio) {
  const bool is_resolved = stats::judge(ratio) != stats::Verdict::kNotResolved;
  return ratio_text(ratio) + (is_resolved ? "" : " ~");
}

void add_ratios(TextTable& table, const std::string& what, const std::vector<StepRatio>& ratios) {
  for (const StepRatio& pair : ratios) {
    const auto& [first, second, ratio] = pair;
    const bool is_apart = !implementation_of(first->cell).empty() && has_unfused_attention(*second);
    add_point(table, first->cell,
              {strategy_label(first->cell) + what, duration_text(first->median_step),
               duration_text(second->median_step),
               ratio_cell(ratio) + rate_words(pair) + (is_apart ? " (attention)" : "")});
  }
}

void add(std::vector<StepRatio>& ratios, const CellSummary& of, const CellSummary* over) {
  if (over == nullptr) return;
  ratios.push_back({.of = &of, .over = over, .ratio = ratio_of(of, *over)});
}

}  // namespace

std::vector<StepRatio> twins_of(const Summary& summary) {
  std::vector<StepRatio> twins;
  for (const CellSummary& cell : summary.cells) {
    if (cell.launches == 0 || implementation_of(cell.cell).empty()) continue;
    add(twins, cell, counterpart_of(cell, summary));
  }
  return twins;
}

std::vector<StepRatio> wrapper_costs(const Summary& summary) {
  std::vector<StepRatio> costs;
  if (!has_twins(summary)) return costs;
  for (const CellSummary& cell : summary.cells) {
    if (is_wrapper_alone(cell)) add(costs, cell, single_of(cell, summary));
  }
  return costs;
}

const Heading& twin_heading(const Summary& summary) {
  return sole_implementation(summary).empty() ? kTwin : kWrappers;
}

std::string twin_note(const Summary& summary) {
  if (!sole_implementation(summary).empty()) return std::string(kWrappers.hint);
  const std::vector<StepRatio> twins = twins_of(summary);
  const auto any = [&](auto predicate) {
    return std::ranges::any_of(twins, [&](const StepRatio& pair) { return predicate(*pair.of); });
  };
  std::string note(kTwin.hint);
  if (any([](const CellSummary& cell) { return cell.cell.backend == "host"; })) {
    note +=
        " Not the same on a CPU: torch uses the batch where it lies, Tandem copies it into the "
        "device's memory in each step, which favours torch.";
  }
  if (any(reduces_by_gloo)) {
    note +=
        " Nor is the transport of ddp's gradients: gloo, over TCP, for torch; Tandem's own, shared "
        "memory within a node, for Tandem. The ratio of ddp compares both along with the rest.";
  }
  for (const StepRatio& pair : twins) {
    const Rates rates = rates_of(*pair.of);
    if (!rates.are_apart()) continue;
    note += fmt::format(
        " Nor are the matrix libraries: torch's linear layers reach {:.0f} GFLOP/s on a core here, "
        "oneDNN's {:.0f}. The ratio per FLOP/s is the ratio if all of torch's step were faster by "
        "as much; expect between the two on a CPU that torch's library suits.",
        rates.own, rates.best);
    break;
  }
  if (std::ranges::any_of(
          twins, [](const StepRatio& pair) { return has_unfused_attention(*pair.over); })) {
    note +=
        " (attention): nor are the kernels of attention, which one fused kernel computes for "
        "torch, "
        "and products and softmax for Tandem. The ratio holds both kernels along with the rest.";
  }
  return note;
}

TextTable twin_table(const Summary& summary) {
  TextTable table =
      table_of_points({"what", ">median step [95 %]", ">against [95 %]", ">ratio [95 %]"});
  add_ratios(table, ", over Tandem's", twins_of(summary));
  add_ratios(table, " on one device, over single", wrapper_costs(summary));
  return table;
}

namespace {

using results::HostPart;
using results::HostThreads;
using results::HostWork;

constexpr const char* kNoFigure = "-";

// The mean over launches in ms, with its interval.
std::string milliseconds_of(const std::vector<double>& seconds) {
  return seconds.empty() ? kNoFigure : fixed_text(stats::center_of_means(seconds), 3, "", 1e3);
}

// The pieces that a part works on in a step; nothing where the module's own counts do not say it.
struct Pieces {
  double count = 0;
  const char* name = "";
};

Pieces pieces_of(const HostPart& part, const HostWork& work, int devices) {
  static constexpr auto kPerParameter =
      std::to_array<std::string_view>({"update", "zero_grad", "reduction", "hooks (profiled)",
                                       "bucket copies (profiled)", "copies back (profiled)"});
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
  if (pieces.count <= 0 || seconds.empty()) return kNoFigure;
  const std::string each =
      fixed_text(stats::center_of_means(seconds), 2, " us", 1e6 / pieces.count);
  return fmt::format("{} a {}", each, pieces.name);
}

// One part, by the launches of a cell.
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
       fmt::format("{} ({})", threads.kind, count_text(threads.threads, "thread")), "1", kNoFigure,
       kNoFigure, milliseconds_of(samples.cpu), milliseconds_of(samples.core), kNoFigure});
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
    for (const HostPart& part : launches.front()->parts) add_part(table, cell.cell, part, launches);
    for (const HostThreads& threads : launches.front()->threads) {
      add_threads(table, cell.cell, threads, launches);
    }
  }
  return table;
}

}  // namespace tandem::reports
