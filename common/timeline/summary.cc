// SPDX-License-Identifier: Apache-2.0
#include "common/timeline/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/json/fields.h"
#include "common/timeline/step_view.h"

namespace tandem::timeline {

namespace {

constexpr std::size_t kWaitsTold = 3;

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
