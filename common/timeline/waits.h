// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "common/timeline/step_view.h"

namespace tandem::timeline {

// A span in which a device had nothing to do: a phase idle or exposed_comm.
struct Wait {
  int rank = 0;
  int device = 0;
  int step = 0;
  Nanoseconds begin{0};
  Nanoseconds length{0};
  std::string phase;
  std::string cause;  // the cause in words
};

// The `count` longest waits at most, longest first.
[[nodiscard]] std::vector<Wait> longest_waits(const std::vector<StepView>& steps,
                                              std::size_t count);

// The device's collective that ended last within the interval, whose end is included; null where
// none ended there.
[[nodiscard]] const Slice* latest_ending(const DeviceStep& device, const TimeRange& within);

// The other device whose phase other than a wait ended last within the interval, without the
// interval's beginning and with its end, and the time of that end; null where there is none.
[[nodiscard]] std::pair<const DeviceStep*, Nanoseconds> latest_work_of_others(
    const StepView& step, const DeviceStep& device, const TimeRange& within);

}  // namespace tandem::timeline
