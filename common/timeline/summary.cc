// SPDX-License-Identifier: Apache-2.0
#include "common/timeline/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "common/json/fields.h"
#include "common/timeline/step_view.h"

namespace tandem::timeline {

namespace {

constexpr std::size_t kWaitsTold = 3;
constexpr double kAlike = 0.05;  // a traced step this near to an untraced one needs no reason

Nanoseconds end_skew(const StepView& step) {
  const auto [first, last] = std::ranges::minmax_element(step.devices, {}, &DeviceStep::end);
  return last->end - first->end;
}

Nanoseconds largest_arrival_skew(const StepView& step) {
  Nanoseconds largest{0};
  for (const DeviceStep& device : step.devices) {
    for (const Slice* const one : device.collectives) {
      if (one->arrival) largest = std::max(largest, one->arrival->skew);
    }
  }
  return largest;
}

StepFigures figures_of(const StepView& step) {
  const DeviceStep& last = step.last();
  return {.step = step.step,
          .length = step.end - step.begin,
          .rank = last.rank,
          .device = last.device,
          .communication = length(last.communication),
          .exposed = exposed_communication(last),
          .in_line = communication_in_line(last),
          .in_gaps = communication_in_gaps(last),
          .hand_over = hand_over(last),
          .exposed_by_account = last.phase("exposed_comm"),
          .idle = last.phase("idle"),
          .end_skew = end_skew(step),
          .arrival_skew = largest_arrival_skew(step),
          .critical_path = critical_path(step)};
}

void add(const DeviceStep& step, DeviceMeans& sums) {
  sums.rank = step.rank;
  sums.device = step.device;
  ++sums.steps;
  sums.step += step.end - step.begin;
  sums.communication += length(step.communication);
  sums.exposed += exposed_communication(step);
  sums.hand_over += hand_over(step);
  sums.in_line += communication_in_line(step);
  for (const Slice* const phase : step.phases) sums.phases[phase->name] += phase->length();
}

std::vector<DeviceMeans> means_of(const std::vector<StepView>& steps) {
  std::map<std::pair<int, int>, DeviceMeans> sums;
  for (const StepView& step : steps) {
    for (const DeviceStep& device : step.devices) add(device, sums[{device.rank, device.device}]);
  }
  std::vector<DeviceMeans> means;
  for (auto& [place, device] : sums) {
    device.step /= device.steps;
    device.communication /= device.steps;
    device.exposed /= device.steps;
    device.hand_over /= device.steps;
    device.in_line /= device.steps;
    for (auto& [name, time] : device.phases) time /= device.steps;
    means.push_back(std::move(device));
  }
  return means;
}

}  // namespace

double StepFigures::overlap() const {
  if (communication == Nanoseconds{0}) return 0;
  return Seconds(communication - exposed - in_line - in_gaps) / Seconds(communication);
}

Nanoseconds exposed_communication(const DeviceStep& device) {
  return length(intersection(device.communication, device.waiting));
}

Nanoseconds hand_over(const DeviceStep& device) {
  Nanoseconds sum{0};
  for (const Slice* const phase : device.phases) {
    if (phase->name == "exposed_comm") sum += hand_over_in(device, *phase);
  }
  return sum;
}

Nanoseconds communication_in_line(const DeviceStep& device) {
  return length(without(device.in_line, device.waiting));
}

Nanoseconds communication_in_gaps(const DeviceStep& device) {
  const TimeRanges others = without(device.communication, device.in_line);
  return length(without(without(others, device.waiting), device.work));
}

TraceSummary summary_of(const Trace& trace) {
  const std::vector<StepView> steps = steps_of(trace);
  TraceSummary summary;
  for (const StepView& step : steps) summary.steps.push_back(figures_of(step));
  summary.devices = means_of(steps);
  summary.waits = longest_waits(steps, kWaitsTold);
  return summary;
}

namespace {

std::string heading(const Trace& trace) {
  Nanoseconds error{0};
  for (const Process& process : trace.processes) error = std::max(error, process.clock_error);
  return fmt::format("{}\nclock: {}; error bound {:.1f} us\n", subject_of(trace),
                     fact(trace, "clock"), milliseconds(error) * 1e3);
}

std::string row(const StepFigures& one) {
  return fmt::format(
      "{:>4}  {:>9.3f}  {:>13}  {:>9.3f}  {:>9.3f}  {:>9.3f}  {:>9.3f}  {:>9.3f}  {:>9.3f}  {:>7}  "
      "{:>9.3f}  {:>9.3f}  "
      "{:>9.3f}\n",
      one.step, milliseconds(one.length), fmt::format("{} / {}", one.rank, one.device),
      milliseconds(one.communication), milliseconds(one.exposed), milliseconds(one.hand_over),
      milliseconds(one.exposed_by_account), milliseconds(one.in_line), milliseconds(one.in_gaps),
      one.communication == Nanoseconds{0} ? "-" : fmt::format("{:.1f} %", one.overlap() * 100),
      milliseconds(one.idle), milliseconds(one.end_skew), milliseconds(one.arrival_skew));
}

// The table of steps; docs/method/trace.md defines its columns.
std::string table(const TraceSummary& summary) {
  std::string text = fmt::format(
      "\nTimes in ms, of the device that ended last; skews of all.\n{:>4}  {:>9}  {:>13}  {:>9}  "
      "{:>9}  {:>9}  {:>9}  {:>9}  {:>9}  {:>7}  {:>9}  {:>9}  {:>9}\n",
      "step", "length", "rank / device", "comm", "exposed", "hand-over", "account", "in line",
      "in gaps", "overlap", "idle", "end skew", "arrival");
  for (const StepFigures& one : summary.steps) text += row(one);
  return text;
}

std::string path(const TraceSummary& summary) {
  std::map<std::string, Nanoseconds> sums;
  Nanoseconds whole{0};
  for (const StepFigures& one : summary.steps) {
    for (const auto& [name, time] : one.critical_path) {
      sums[name] += time;
      whole += time;
    }
  }
  std::vector<std::pair<std::string, Nanoseconds>> sorted(sums.begin(), sums.end());
  std::ranges::stable_sort(sorted,
                           [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string text = "\nCritical path, mean of the steps:\n";
  const auto steps = static_cast<double>(std::max<std::size_t>(1, summary.steps.size()));
  for (const auto& [name, time] : sorted) {
    text += fmt::format("  {:<14} {:>9.3f} ms  {:>5.1f} %\n", name, milliseconds(time) / steps,
                        whole == Nanoseconds{0} ? 0.0 : Seconds(time) / Seconds(whole) * 100);
  }
  return text;
}

std::string waits(const TraceSummary& summary) {
  std::string text = "\nLongest waits:\n";
  for (const Wait& wait : summary.waits) {
    text += fmt::format("  {:.3f} ms in {}, rank {} device {}, step {} at {:.3f} ms: {}\n",
                        milliseconds(wait.length), wait.phase, wait.rank, wait.device, wait.step,
                        milliseconds(wait.begin), wait.cause);
  }
  return summary.waits.empty() ? "\nNo waits.\n" : text;
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
std::vector<double> seconds_of_samples(const Trace& trace) {
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
  std::vector<double> lengths;
  for (std::size_t i = 0; i < all.size(); ++i) {
    lengths.push_back(Seconds(is_apart ? longest[i] : all[i].end - all[i].begin).count());
  }
  return lengths;
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

// The traced step beside the untraced one.
std::string cost_of_tracing(const Trace& trace, const TraceSummary& summary) {
  const std::vector<double> samples = seconds_of_samples(trace);
  if (!trace.untraced || samples.empty() || summary.steps.size() < samples.size()) return "";
  const auto per_sample = static_cast<double>(summary.steps.size() / samples.size());
  const double traced = median(samples) / per_sample;
  const double untraced = trace.untraced->step.count();
  std::string text = fmt::format(
      "\nA traced step takes {:.3f} ms, one of the launch's {} untraced samples {:.3f} ms{}\n",
      traced * 1e3, trace.untraced->samples, untraced * 1e3,
      untraced > 0 ? fmt::format(": {:.3f} times", traced / untraced) : "");
  if (std::abs(traced - untraced) <= kAlike * untraced) return text;
  return text + fmt::format(
                    "More than 5 % apart: {}the two passes differ, or met the machine in different "
                    "states. Trace more steps, with nothing beside it.\n",
                    fact(trace, "cuda_times") == "cupti"
                        ? "CUPTI was attached, which makes each launch slower; or "
                        : "");
}

}  // namespace

std::string to_text(const Trace& trace, const TraceSummary& summary) {
  return heading(trace) + table(summary) + path(summary) + waits(summary) +
         cost_of_tracing(trace, summary);
}

constexpr auto json_fields(const DeviceMeans*) {
  using D = DeviceMeans;
  return std::tuple(field("rank", &D::rank), field("device", &D::device), field("steps", &D::steps),
                    field("step", &D::step), field("communication", &D::communication),
                    field("exposed", &D::exposed), field("hand_over", &D::hand_over),
                    field("in_line", &D::in_line), field("phases", &D::phases));
}

constexpr auto json_fields(const TraceSummary*) {
  return std::tuple(field("devices", &TraceSummary::devices));
}

std::string to_json(const TraceSummary& summary) { return json_page(summary, 1); }

std::string fact(const Trace& trace, const std::string& name) {
  const auto found = trace.facts.find(name);
  return found == trace.facts.end() ? "?" : found->second;
}

std::string subject_of(const Trace& trace) {
  return fmt::format("{} as {}, {} on {} devices ({}), global batch {}", fact(trace, "strategy"),
                     fact(trace, "launch"), fact(trace, "model"), fact(trace, "devices"),
                     fact(trace, "backend"), fact(trace, "batch"));
}

}  // namespace tandem::timeline
