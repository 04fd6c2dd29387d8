// SPDX-License-Identifier: Apache-2.0
#include "common/timeline/step_view.h"

#include <algorithm>

#include "common/base/error.h"

namespace tandem::timeline {

TimeRanges union_of(std::vector<TimeRange> intervals) {
  std::erase_if(intervals, [](const TimeRange& one) { return one.end <= one.begin; });
  std::ranges::sort(intervals, {}, &TimeRange::begin);
  TimeRanges all;
  for (const TimeRange& next : intervals) {
    if (all.empty() || next.begin > all.back().end) {
      all.push_back(next);
    } else {
      all.back().end = std::max(all.back().end, next.end);
    }
  }
  return all;
}

TimeRanges intersection(const TimeRanges& a, const TimeRanges& b) {
  TimeRanges common;
  for (auto x = a.begin(), y = b.begin(); x != a.end() && y != b.end();) {
    const TimeRange both{std::max(x->begin, y->begin), std::min(x->end, y->end)};
    if (both.begin < both.end) common.push_back(both);
    (x->end < y->end ? x : y)++;
  }
  return common;
}

TimeRanges without(const TimeRanges& a, const TimeRanges& b) {
  TimeRanges left;
  auto y = b.begin();
  for (TimeRange rest : a) {
    while (y != b.end() && y->end <= rest.begin) ++y;
    for (auto cut = y; cut != b.end() && cut->begin < rest.end; ++cut) {
      if (cut->begin > rest.begin) left.push_back({rest.begin, cut->begin});
      rest.begin = std::min(cut->end, rest.end);
    }
    if (rest.begin < rest.end) left.push_back(rest);
  }
  return left;
}

Nanoseconds length(const TimeRanges& intervals) {
  Nanoseconds sum{0};
  for (const TimeRange& one : intervals) sum += one.end - one.begin;
  return sum;
}

namespace {

// The parts of a device's step, gathered before the step is whole.
struct Gathered {
  DeviceStep step;
  std::vector<TimeRange> work;
  std::vector<TimeRange> communication;
  std::vector<TimeRange> in_line;
};

bool is_of_bucket(const Slice& collective) { return collective.index >= 0; }

void take(const Slice& slice, bool is_of_buckets, Gathered& into) {
  switch (slice.kind) {
    case SliceKind::kStep:
      into.step.begin = slice.begin;
      into.step.end = slice.end;
      return;
    case SliceKind::kPhase:
      // A phase that took no time begins where the next phase begins, and covers no moment of the
      // step.
      if (slice.begin < slice.end) into.step.phases.push_back(&slice);
      return;
    case SliceKind::kCollective:
      into.step.collectives.push_back(&slice);
      into.communication.push_back({slice.begin, slice.end});
      if (!is_of_bucket(slice)) into.in_line.push_back({slice.begin, slice.end});
      return;
    case SliceKind::kOperation:
    case SliceKind::kCopy:
      if (!is_of_buckets) into.work.push_back({slice.begin, slice.end});
      return;
    case SliceKind::kHarness:
    case SliceKind::kLayer:
    case SliceKind::kKernel:  // parts of operations, copies and collectives, which count as a whole
    case SliceKind::kMemory:
      return;
  }
}

bool holds_buckets(const Track& track) {
  return std::ranges::any_of(track.slices, [](const Slice& one) {
    return one.kind == SliceKind::kCollective && is_of_bucket(one);
  });
}

using ByStep = std::map<int, std::map<int, Gathered>>;  // a process's, by step and device

ByStep gather(const Process& process) {
  ByStep found;
  for (const Track& track : process.tracks) {
    const bool is_of_buckets = holds_buckets(track);
    for (const Slice& slice : track.slices) {
      if (slice.step > 0) take(slice, is_of_buckets, found[slice.step][track.device]);
    }
  }
  for (const Bucket& bucket : process.buckets) {
    found[bucket.step][bucket.device].step.buckets[bucket.index] = &bucket;
  }
  return found;
}

DeviceStep finished(Gathered&& gathered, int rank, int device) {
  DeviceStep step = std::move(gathered.step);
  step.rank = rank;
  step.device = device;
  step.work = union_of(std::move(gathered.work));
  step.communication = union_of(std::move(gathered.communication));
  step.in_line = union_of(std::move(gathered.in_line));
  std::vector<TimeRange> waiting;
  for (const Slice* const phase : step.phases) {
    if (is_waiting(*phase)) waiting.push_back({phase->begin, phase->end});
  }
  step.waiting = union_of(std::move(waiting));
  std::ranges::sort(step.collectives, {}, &Slice::begin);
  return step;
}

}  // namespace

Nanoseconds DeviceStep::phase(std::string_view name) const {
  Nanoseconds sum{0};
  for (const Slice* const slice : phases) {
    if (slice->name == name) sum += slice->length();
  }
  return sum;
}

Nanoseconds hand_over_in(const DeviceStep& device, const Slice& wait) {
  const TimeRanges ran = intersection(device.communication, {{wait.begin, wait.end}});
  return ran.empty() ? Nanoseconds{0} : wait.length() - length(ran);
}

const DeviceStep& StepView::last() const {
  return *std::ranges::max_element(devices, {}, &DeviceStep::end);
}

const DeviceStep* StepView::find(int rank, int device) const {
  const auto found = std::ranges::find_if(
      devices, [&](const DeviceStep& one) { return one.rank == rank && one.device == device; });
  return found == devices.end() ? nullptr : &*found;
}

std::vector<StepView> steps_of(const Trace& trace) {
  std::map<int, StepView> steps;
  for (const Process& process : trace.processes) {
    for (auto& [number, by_device] : gather(process)) {
      for (auto& [device, gathered] : by_device) {
        if (gathered.step.phases.empty()) continue;  // the step did not end
        StepView& step = steps[number];
        step.devices.push_back(finished(std::move(gathered), process.rank, device));
        const DeviceStep& added = step.devices.back();
        const bool is_first = step.devices.size() == 1;
        step.step = number;
        step.begin = is_first ? added.begin : std::min(step.begin, added.begin);
        step.end = is_first ? added.end : std::max(step.end, added.end);
      }
    }
  }
  std::vector<StepView> all;
  for (auto& [number, step] : steps) all.push_back(std::move(step));
  return all;
}

}  // namespace tandem::timeline
