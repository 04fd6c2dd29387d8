// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/base/units.h"
#include "common/timeline/timeline.h"

namespace tandem::timeline {

// The half-open interval [begin, end).
struct TimeRange {
  Nanoseconds begin{0};
  Nanoseconds end{0};

  bool operator==(const TimeRange&) const = default;
};

// A set of points in time: intervals in order, none empty, none touching the next.
using TimeRanges = std::vector<TimeRange>;

// The union of intervals in any order, which may overlap or be empty.
[[nodiscard]] TimeRanges union_of(std::vector<TimeRange> intervals);

[[nodiscard]] TimeRanges intersection(const TimeRanges& a, const TimeRanges& b);

// The part of `a` that is not in `b`.
[[nodiscard]] TimeRanges without(const TimeRanges& a, const TimeRanges& b);

[[nodiscard]] Nanoseconds length(const TimeRanges& intervals);

// One step on one device, as the device's slices show. Points into the trace, which must outlive
// this.
struct DeviceStep {
  int rank = 0;
  int device = 0;
  Nanoseconds begin{0};
  Nanoseconds end{0};
  std::vector<const Slice*> phases{};       // phases longer than zero, in order, without gaps
  std::vector<const Slice*> collectives{};  // collectives in order
  std::map<int, const Bucket*> buckets{};   // buckets by index
  TimeRanges work{};                        // when operations or copies outside collectives ran
  TimeRanges waiting{};                     // phases in which the device does no work of its own
  TimeRanges communication{};               // when collectives ran
  TimeRanges in_line{};  // when collectives of no bucket ran on the compute stream

  // The sum of the phases of this name.
  [[nodiscard]] Nanoseconds phase(std::string_view name) const;
};

struct StepView {
  int step = 0;
  Nanoseconds begin{0};  // beginning of the first device
  Nanoseconds end{0};    // end of the last device
  std::vector<DeviceStep> devices{};

  // The device whose step ended last; the step has at least one device.
  [[nodiscard]] const DeviceStep& last() const;
  // This rank's device; null where the rank has no such device in the step.
  [[nodiscard]] const DeviceStep* find(int rank, int device) const;
};

// The trace's steps in order. A device that took no part in a step is left out of the step.
[[nodiscard]] std::vector<StepView> steps_of(const Trace& trace);

// How long, during a wait, none of the awaited collectives ran: until a stream had begun the
// collectives, and after their end until the device went on. 0 where none ran in the wait at all.
[[nodiscard]] Nanoseconds hand_over_in(const DeviceStep& device, const Slice& wait);

// Whether the phase is one in which a device does no work of its own.
[[nodiscard]] inline bool is_waiting(const Slice& phase) {
  return phase.name == "idle" || phase.name == "exposed_comm";
}

}  // namespace tandem::timeline
