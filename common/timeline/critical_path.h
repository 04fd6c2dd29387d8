// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "common/timeline/step_view.h"

namespace tandem::timeline {

inline constexpr const char* kTransfer = "collective";  // from its last rank's arrival to its end
inline constexpr const char* kLateStart = "late start";
inline constexpr const char* kBetween =
    "hand-over";  // a bucket was ready, its collective not begun

// What the step's length is made of, by phase: back from the end of the device that ended last. A
// phase counts as long as the path is in it. Out of a wait for a collective the path goes through
// that, and on where its last rank came from: the collective before it on that rank's stream, or
// the work that filled the bucket. Out of idle it goes to the device whose work ended last before
// idle did. What is left where the path ends on a device that began later than the first is late
// start. Sums to the step's length.
[[nodiscard]] std::map<std::string, Nanoseconds> critical_path(const StepView& step);

}  // namespace tandem::timeline
