// SPDX-License-Identifier: Apache-2.0
#include "common/timeline/launch_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <utility>

#include "common/timeline/summary.h"

namespace tandem::timeline {

namespace {

// The sums over a sample's steps on one device.
struct DeviceSample {
  Nanoseconds span{0};
  std::map<std::string, Nanoseconds> phases{};
  std::map<int, Nanoseconds> collectives{};  // by bucket

  [[nodiscard]] Nanoseconds of(const char* phase) const {
    const auto found = phases.find(phase);
    return found == phases.end() ? Nanoseconds{0} : found->second;
  }
};

// The sums by rank and device, so that a root comes first.
using Sample = std::map<std::pair<int, int>, DeviceSample>;

void add(const DeviceStep& step, DeviceSample& sample) {
  sample.span += step.end - step.begin;
  for (const Slice* const phase : step.phases) sample.phases[phase->name] += phase->length();
  for (const Slice* const one : step.collectives) sample.collectives[one->index] += one->length();
}

// The times of a process's samples; the samples of all processes are in the same order.
std::vector<TimeRange> times_of_samples(const Process& process) {
  std::vector<TimeRange> samples;
  for (const Track& track : process.tracks) {
    for (const Slice& slice : track.slices) {
      if (slice.kind == SliceKind::kHarness && slice.name == "sample") {
        samples.push_back({slice.begin, slice.end});
      }
    }
  }
  return samples;
}

// The lengths of the samples, as bench's sampler defines length: from the last rank's start to the
// last rank's end, or on clocks that are apart the longest of the ranks' own lengths.
std::vector<Nanoseconds> lengths_of_samples(const Trace& trace) {
  const bool is_apart = std::ranges::any_of(
      trace.processes, [&](const Process& one) { return one.host != trace.processes[0].host; });
  std::vector<TimeRange> all;
  std::vector<Nanoseconds> longest;
  for (const Process& process : trace.processes) {
    const std::vector<TimeRange> own = times_of_samples(process);
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
  if (is_apart) return longest;
  std::vector<Nanoseconds> lengths;
  for (const TimeRange& one : all) lengths.push_back(one.end - one.begin);
  return lengths;
}

Nanoseconds median(std::vector<Nanoseconds> values) {
  if (values.empty()) return Nanoseconds{0};
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

std::vector<Sample> samples_of(const std::vector<StepView>& steps, std::size_t steps_per_sample) {
  std::vector<Sample> samples;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (i % steps_per_sample == 0) samples.emplace_back();
    for (const DeviceStep& device : steps[i].devices) {
      add(device, samples.back()[{device.rank, device.device}]);
    }
  }
  return samples;
}

const DeviceSample& critical_of(const Sample& sample, bool has_root) {
  if (has_root) return sample.begin()->second;
  return std::ranges::max_element(sample, {}, [](const auto& one) { return one.second.span; })
      ->second;
}

template <class Value>
Nanoseconds least(const Sample& sample, const Value& value) {
  Nanoseconds found = Nanoseconds::max();
  for (const auto& [place, device] : sample) found = std::min(found, value(device));
  return found;
}

// The sum of each bucket's shortest collective over the devices: the device with the shortest one
// waited for no peer.
Nanoseconds least_collectives(const Sample& sample) {
  Nanoseconds sum{0};
  for (const auto& [index, time] : sample.begin()->second.collectives) {
    sum += least(sample, [bucket = index](const DeviceSample& device) {
      const auto found = device.collectives.find(bucket);
      return found == device.collectives.end() ? Nanoseconds::max() : found->second;
    });
  }
  return sum;
}

}  // namespace

LaunchFigures figures_of(const Trace& trace, const std::vector<StepView>& steps, bool has_root) {
  const std::vector<Nanoseconds> lengths = lengths_of_samples(trace);
  LaunchFigures figures{.samples = static_cast<int>(lengths.size()), .has_root = has_root};
  if (lengths.empty() || steps.size() < lengths.size()) return figures;
  const std::size_t per_sample = steps.size() / lengths.size();
  figures.step = Seconds(median(lengths)) / static_cast<double>(per_sample);
  const auto count = static_cast<double>(steps.size());
  for (const Sample& sample : samples_of(steps, per_sample)) {
    for (const auto& [name, time] : critical_of(sample, has_root).phases) {
      if (time > Nanoseconds{0}) figures.phases[name] += Seconds(time) / count;
    }
    figures.least_exposed +=
        Seconds(least(sample, [](const auto& one) { return one.of("exposed_comm"); })) / count;
    figures.least_compute +=
        Seconds(
            least(sample, [](const auto& one) { return one.of("forward") + one.of("backward"); })) /
        count;
    figures.collectives += Seconds(least_collectives(sample)) / count;
  }
  return figures;
}

namespace {

constexpr double kAlike = 0.05;   // ratios this near to 1 need no explanation
constexpr double kJudged = 0.01;  // share of the step below which a figure gets no explanation
// The cost of an event on a GPU; on the host a reading of the clock costs less.
constexpr Seconds kMomentCost = std::chrono::microseconds(1);

enum class What { kWork, kWait };

struct Row {
  std::string name;
  Seconds traced{0};
  Seconds untraced{0};
  What what = What::kWork;
  double moments = 0;  // recorded moments in the phase, per step and device

  [[nodiscard]] Seconds more() const { return traced - untraced; }
  [[nodiscard]] bool is_alike() const {
    return std::max(traced, untraced) <= (1 + kAlike) * std::min(traced, untraced);
  }
};

// The beginnings and ends that were recorded within each phase, per step and device; "" is the
// whole step.
std::map<std::string, double> moments_of(const std::vector<StepView>& steps) {
  std::map<std::string, double> moments;
  double device_steps = 0;
  for (const StepView& step : steps) {
    for (const DeviceStep& device : step.devices) {
      ++device_steps;
      for (const auto& [phase, pieces] : device.pieces) {
        moments[phase] += 2.0 * pieces;
        moments[""] += 2.0 * pieces;
      }
      moments[""] += static_cast<double>(device.phases.size());
    }
  }
  for (auto& [phase, count] : moments) count /= std::max(1.0, device_steps);
  return moments;
}

std::vector<Row> phase_rows(const LaunchFigures& traced, const LaunchFigures& untraced,
                            std::map<std::string, double>& moments) {
  std::set<std::string> names;
  for (const auto& [name, time] : traced.phases) names.insert(name);
  for (const auto& [name, time] : untraced.phases) names.insert(name);
  std::vector<Row> rows;
  for (const std::string& name : names) {
    const bool waits = name == "exposed_comm" || name == "idle";
    rows.push_back({.name = name,
                    .traced = traced.phase(name),
                    .untraced = untraced.phase(name),
                    .what = waits ? What::kWait : What::kWork,
                    .moments = moments[name]});
  }
  std::ranges::stable_sort(rows, std::greater{}, &Row::untraced);
  return rows;
}

std::vector<Row> rows_of(const LaunchFigures& traced, const LaunchFigures& untraced,
                         std::map<std::string, double>& moments) {
  std::vector<Row> rows{
      {.name = "step", .traced = traced.step, .untraced = untraced.step, .moments = moments[""]}};
  // Without marks between phases there are no untraced phases to compare with.
  if (untraced.phases.empty()) return rows;
  std::ranges::move(phase_rows(traced, untraced, moments), std::back_inserter(rows));
  if (untraced.collectives <= Seconds{0}) return rows;
  rows.push_back({"collectives", traced.collectives, untraced.collectives, What::kWait});
  rows.push_back({"least exposed", traced.least_exposed, untraced.least_exposed, What::kWait});
  rows.push_back({"skew", traced.skew(), untraced.skew(), What::kWait});
  return rows;
}

std::string line_of(const Row& row) {
  return fmt::format(
      "  {:<14} {:>9.3f}  {:>9.3f}  {:>6}\n", row.name, row.traced.count() * 1e3,
      row.untraced.count() * 1e3,
      row.untraced > Seconds{0} ? fmt::format("{:.3f}", row.traced / row.untraced) : "-");
}

std::string reason_of(const Row& row) {
  if (row.what == What::kWait) return "waits take up what the trace does elsewhere *";
  if (row.more() < Seconds{0}) return "no trace makes it shorter *";
  const std::string told =
      fmt::format("{:.0f} moments of the trace, about a microsecond each", row.moments);
  return row.more() <= 2 * row.moments * kMomentCost ? told : told + "; the rest *";
}

// The share in per cent, rounded to a tenth, and never "-0.0".
double percent(double share) { return std::round(share * 1000) / 10 + 0.0; }

bool is_by_cupti(const Trace& trace) {
  const auto source = trace.facts.find("cuda_times");
  return source != trace.facts.end() && source->second == "cupti";
}

std::string reasons(const std::vector<Row>& rows, bool is_by_cupti) {
  std::string text;
  for (const Row& row : rows) {
    const bool counts = std::max(row.traced, row.untraced) >= kJudged * rows.front().untraced;
    if (!counts || row.is_alike()) continue;
    text += fmt::format("  {:<14} {:>+9.3f} ms: {}\n", row.name, row.more().count() * 1e3,
                        reason_of(row));
  }
  if (text.empty()) return "  All of 1 % of the step or more are within 5 %.\n";
  if (text.find('*') != std::string::npos) {
    text += fmt::format(
        "  * {}the two passes differ, or met the machine in different states: trace more steps, "
        "with nothing beside it\n",
        is_by_cupti ? "CUPTI was attached, which makes each launch slower; or " : "");
  }
  return "  More than 5 % apart:\n" + text;
}

// Compares the intervals of the trace with the phase times of the trace.
std::string exposed_reason(const std::vector<StepView>& steps) {
  Row sums;
  Nanoseconds whole{0};
  for (const StepView& step : steps) {
    const DeviceStep& last = step.last();
    sums.traced += exposed_communication(last);
    sums.untraced += last.phase("exposed_comm");
    whole += step.end - step.begin;
  }
  const bool counts = sums.untraced >= kJudged * Seconds(whole);
  if (!counts || sums.is_alike() || sums.traced <= Seconds{0}) return "";
  return fmt::format(
      "  exposed is {:.3f} of \"account\" in the table above: {}\n", sums.traced / sums.untraced,
      sums.traced < sums.untraced
          ? "the phase exposed_comm also holds waking up and the time before a collective began"
          : "it also counts collectives that ran while the device was idle");
}

}  // namespace

std::string comparison_text(const Trace& trace) {
  const std::vector<StepView> steps = steps_of(trace);
  if (!trace.untraced) return exposed_reason(steps);
  const LaunchFigures& untraced = *trace.untraced;
  const LaunchFigures traced = figures_of(trace, steps, untraced.has_root);
  auto moments = moments_of(steps);
  const std::vector<Row> rows = rows_of(traced, untraced, moments);
  std::string text = fmt::format(
      "\nBeside the launch's {} untraced samples, by the report's definitions; ms per step:\n"
      "  {:<14} {:>9}  {:>9}  {:>6}\n",
      untraced.samples, "", "traced", "untraced", "ratio");
  for (const Row& row : rows) text += line_of(row);
  if (untraced.collectives > Seconds{0}) {
    text += fmt::format("  {:<14} {:>7.1f} %  {:>7.1f} %\n", "hidden",
                        percent(traced.hidden_share()), percent(untraced.hidden_share()));
  }
  return text + reasons(rows, is_by_cupti(trace)) + exposed_reason(steps);
}

}  // namespace tandem::timeline
