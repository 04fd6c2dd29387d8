// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/observe/trace_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "common/base/text.h"
#include "common/stats/summary.h"
#include "reports/text/format.h"

namespace tandem::cli {
namespace {

using reports::Section;
using reports::TextTable;
using timeline::Process;
using timeline::StepFigures;
using timeline::Trace;
using timeline::TraceSummary;

constexpr double kSameStep = 0.05;  // a traced step this near to an untraced one needs no reason
constexpr std::size_t kMostBars = 6;

std::string milliseconds_of(Nanoseconds time) {
  return fmt::format("{:.3f}", timeline::milliseconds(time));
}

std::string percent_of(Nanoseconds part, Nanoseconds whole) {
  return fmt::format("{:.1f} %", whole == Nanoseconds{0} ? 0 : 100.0 * (Seconds(part) / whole));
}

// The sums over the steps, of the device that ended last in each.
StepFigures sums_of(const TraceSummary& summary) {
  StepFigures sums;
  for (const StepFigures& one : summary.steps) {
    sums.length += one.length;
    sums.communication += one.communication;
    sums.exposed += one.exposed;
    sums.in_line += one.in_line;
    sums.in_gaps += one.in_gaps;
  }
  return sums;
}

std::string verdict_of(const TraceSummary& summary) {
  const StepFigures sums = sums_of(summary);
  const auto steps = static_cast<double>(summary.steps.size());
  const auto mean = [&](Nanoseconds sum) {
    return reports::duration_text(Seconds(sum).count() / steps);
  };
  std::string text = fmt::format("A step takes {}, the mean of {}", mean(sums.length),
                                 count_text(std::ssize(summary.steps), "step"));
  if (sums.communication == Nanoseconds{0}) return text + "; no collective ran in it.";
  return text + fmt::format(
                    "; its device waits for {} of it ({}) while collectives run, and {:.0f} "
                    "% of their time is hidden behind work.",
                    mean(sums.exposed), percent_of(sums.exposed, sums.length),
                    100 * sums.overlap());
}

// The parts of the critical path, summed over the steps, largest first.
std::vector<std::pair<std::string, Nanoseconds>> path_of(const TraceSummary& summary) {
  std::map<std::string, Nanoseconds> sums;
  for (const StepFigures& one : summary.steps) {
    for (const auto& [name, time] : one.critical_path) sums[name] += time;
  }
  std::vector<std::pair<std::string, Nanoseconds>> parts(sums.begin(), sums.end());
  std::ranges::stable_sort(parts, [](const auto& a, const auto& b) { return a.second > b.second; });
  return parts;
}

// The largest parts; smaller ones share a bar.
reports::Bars path_bars(const TraceSummary& summary) {
  reports::Bars bars{.caption = "Critical path, mean of the steps:"};
  const Nanoseconds whole = sums_of(summary).length;
  const auto add = [&](const std::string& label, Nanoseconds sum) {
    const Nanoseconds mean = sum / std::ssize(summary.steps);
    bars.bars.push_back(
        {.label = label,
         .length = Seconds(mean).count(),
         .figure = fmt::format("{} ms  {:>6}", milliseconds_of(mean), percent_of(sum, whole))});
  };
  Nanoseconds others{0};
  for (const auto& [name, sum] : path_of(summary)) {
    if (bars.bars.size() < kMostBars) {
      add(name, sum);
    } else {
      others += sum;
    }
  }
  if (others > Nanoseconds{0}) add("others", others);
  return bars;
}

TextTable path_table(const TraceSummary& summary) {
  TextTable table({"part", ">ms", ">share"});
  const Nanoseconds whole = sums_of(summary).length;
  for (const auto& [name, sum] : path_of(summary)) {
    table.rows.push_back(
        {name, milliseconds_of(sum / std::ssize(summary.steps)), percent_of(sum, whole)});
  }
  return table;
}

std::vector<std::string> wait_lines(const TraceSummary& summary) {
  std::vector<std::string> lines;
  for (const timeline::Wait& wait : summary.waits) {
    lines.push_back(fmt::format("{} ms in {}, rank {} device {}, step {} at {} ms: {}",
                                milliseconds_of(wait.length), wait.phase, wait.rank, wait.device,
                                wait.step, milliseconds_of(wait.begin), wait.cause));
  }
  return lines;
}

// The tables of steps; docs/method/phases.md defines their columns.
Section steps_section(const TraceSummary& summary) {
  TextTable steps({">step", ">length", "rank / device", ">comm", ">exposed", ">overlap", ">idle",
                   ">end skew", ">arrival"});
  TextTable parts({">step", ">hand-over", ">account", ">in line", ">in gaps"});
  for (const StepFigures& one : summary.steps) {
    const std::string number = std::to_string(one.step);
    steps.rows.push_back(
        {number, milliseconds_of(one.length), fmt::format("{} / {}", one.rank, one.device),
         milliseconds_of(one.communication), milliseconds_of(one.exposed),
         one.communication == Nanoseconds{0} ? "-" : fmt::format("{:.1f} %", one.overlap() * 100),
         milliseconds_of(one.idle), milliseconds_of(one.end_skew),
         milliseconds_of(one.arrival_skew)});
    parts.rows.push_back({number, milliseconds_of(one.hand_over),
                          milliseconds_of(one.exposed_by_account), milliseconds_of(one.in_line),
                          milliseconds_of(one.in_gaps)});
  }
  Section section(reports::Heading{"", "Steps, in ms",
                                   "Times of the device that ended last; skews of all.",
                                   "docs/method/phases.md#summary-of-a-timeline"});
  section.add(reports::Table{.table = std::move(steps), .caption = {}});
  return section.add(reports::Table{.table = std::move(parts), .caption = {}});
}

std::string clock_text(const Trace& trace) {
  Nanoseconds error{0};
  for (const Process& process : trace.processes) error = std::max(error, process.clock_error);
  return fmt::format("clock: {}; error bound {:.1f} us", timeline::fact(trace, "clock"),
                     timeline::milliseconds(error) * 1e3);
}

// The times of a process's samples; the samples of all processes are in the same order.
std::vector<timeline::TimeRange> times_of_samples(const Process& process) {
  std::vector<timeline::TimeRange> samples;
  for (const timeline::Track& track : process.tracks) {
    for (const timeline::Slice& slice : track.slices) {
      if (slice.kind == timeline::SliceKind::kHarness && slice.name == "sample") {
        samples.push_back({slice.begin, slice.end});
      }
    }
  }
  return samples;
}

// The lengths of the samples, as bench's sampler defines length: from the last rank's start to the
// last rank's end, or on clocks that are apart the longest of the ranks' own lengths.
std::vector<double> seconds_of_samples(const Trace& trace) {
  const bool is_apart = std::ranges::any_of(
      trace.processes, [&](const Process& one) { return one.host != trace.processes[0].host; });
  std::vector<timeline::TimeRange> all;
  std::vector<Nanoseconds> longest;
  for (const Process& process : trace.processes) {
    const std::vector<timeline::TimeRange> own = times_of_samples(process);
    if (all.empty()) {
      all = own;
      longest.resize(own.size());
    }
    for (std::size_t i = 0; i < std::min(own.size(), all.size()); ++i) {
      all[i].begin = std::max(all[i].begin, own[i].begin);
      all[i].end = std::max(all[i].end, own[i].end);
      longest[i] = std::max(longest[i], own[i].end - own[i].begin);
    }
  }
  std::vector<double> lengths;
  for (std::size_t i = 0; i < all.size(); ++i) {
    lengths.push_back(Seconds(is_apart ? longest[i] : all[i].end - all[i].begin).count());
  }
  return lengths;
}

// The traced step beside the untraced one.
std::string cost_of_tracing(const Trace& trace, const TraceSummary& summary) {
  const std::vector<double> samples = seconds_of_samples(trace);
  if (!trace.untraced || samples.empty() || summary.steps.size() < samples.size()) return "";
  const auto per_sample = static_cast<double>(summary.steps.size() / samples.size());
  const double traced = stats::median(samples) / per_sample;
  const double untraced = trace.untraced->step.count();
  std::string text = fmt::format(
      "A traced step takes {:.3f} ms, one of the launch's {} untraced samples {:.3f} ms{}.",
      traced * 1e3, trace.untraced->samples, untraced * 1e3,
      untraced > 0 ? fmt::format(": {:.3f} times", traced / untraced) : "");
  if (std::abs(traced - untraced) <= kSameStep * untraced) return text;
  return text + fmt::format(
                    " More than 5 % apart: {}the two passes differ, or met the machine in "
                    "different states. Trace more steps, with nothing beside it.",
                    timeline::fact(trace, "cuda_times") == "cupti"
                        ? "CUPTI was attached, which makes each launch slower; or "
                        : "");
}

}  // namespace

reports::Section tree_of(const Trace& trace) {
  const TraceSummary summary = timeline::summary_of(trace);
  Section root(timeline::subject_of(trace));
  root.say(verdict_of(summary), "overall", reports::kAnswer)
      .add(path_bars(summary), reports::kAnswer);
  const std::vector<std::string> waits = wait_lines(summary);
  root.say(waits.empty() ? "No waits." : "Longest waits:", "hint", reports::kAnswer)
      .list(waits, "method", reports::kAnswer)
      .say(cost_of_tracing(trace, summary), "hint", reports::kAnswer)
      .say(clock_text(trace))
      .table({"", "Critical path, mean of the steps"}, path_table(summary));
  return root.add(steps_section(summary));
}

}  // namespace tandem::cli
