// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/timeline/intervals.h"
#include "common/timeline/timeline.h"

namespace tandem::timeline {

// One step on one device, as its slices tell. Points into the trace, which outlives it.
struct DeviceStep {
  int rank = 0;
  int device = 0;
  Nanoseconds begin{0};
  Nanoseconds end{0};
  std::vector<const Slice*> phases{};       // that took time, in order, without gaps
  std::vector<const Slice*> collectives{};  // in order
  std::map<int, const Bucket*> buckets{};   // by index
  Intervals work{};                         // when operations or copies ran, but a collective's
  std::map<std::string, int> pieces{};      // how many of them, by the phase that they began in
  Intervals waiting{};                      // phases in which it does nothing for itself
  Intervals communication{};                // when collectives did
  Intervals in_line{};                      // those on the stream of compute, of no bucket

  // The sum of the phases of this name.
  [[nodiscard]] Nanoseconds phase(std::string_view name) const;
};

struct StepView {
  int step = 0;
  Nanoseconds begin{0};  // of the first device
  Nanoseconds end{0};    // of the last one
  std::vector<DeviceStep> devices{};

  // Whose step ended last; there is one.
  [[nodiscard]] const DeviceStep& last() const;
  // Of this rank's device; null where it has none in the step.
  [[nodiscard]] const DeviceStep* find(int rank, int device) const;
};

// In order. A device that has no part in a step is none of its.
[[nodiscard]] std::vector<StepView> steps_of(const Trace& trace);

// How long none ran of the collectives that a wait is for: until a stream had begun them, and after
// them until the device went on. 0 where none ran in it at all.
[[nodiscard]] Nanoseconds hand_over_in(const DeviceStep& device, const Slice& wait);

// A phase in which a device does nothing for itself.
[[nodiscard]] inline bool is_waiting(const Slice& phase) {
  return phase.name == "idle" || phase.name == "exposed_comm";
}

}  // namespace tandem::timeline
