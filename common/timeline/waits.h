// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "common/timeline/step_view.h"

namespace tandem::timeline {

// A device had nothing to do: a phase idle or exposed_comm.
struct Wait {
  int rank = 0;
  int device = 0;
  int step = 0;
  Nanoseconds begin{0};
  Nanoseconds length{0};
  std::string phase;
  std::string cause;  // in words
};

// Longest first, `count` at most.
[[nodiscard]] std::vector<Wait> longest_waits(const std::vector<StepView>& steps,
                                              std::size_t count);

// Of the device's collectives, the one that ended last within the interval, its end included; null
// where none did.
[[nodiscard]] const Slice* latest_ending(const DeviceStep& device, const Interval& within);

// The other device whose phase that is no wait ended last within the interval, its beginning left
// out and its end included, and when; null where none did.
[[nodiscard]] std::pair<const DeviceStep*, Nanoseconds> latest_work_of_others(
    const StepView& step, const DeviceStep& device, const Interval& within);

}  // namespace tandem::timeline
