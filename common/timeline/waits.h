// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
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

inline constexpr const char* kTransfer = "collective";  // from the last rank's arrival on
inline constexpr const char* kLateStart = "late start";
inline constexpr const char* kBetween =
    "hand-over";  // a bucket was ready and its collective not yet begun

// The phases that the step's length is made of, followed back from the end of the device that ended
// last. A phase counts as long as the path is in the phase. A wait for a collective leads through
// the collective, and on to where the collective's last rank came from: the collective before on
// that rank's stream, or the work that filled the bucket. An idle phase leads to the device whose
// work ended last before the idle phase did. Where the path ends on a device that began later than
// the first, the rest is late start. The phases sum to the step's length.
[[nodiscard]] std::map<std::string, Nanoseconds> critical_path(const StepView& step);

}  // namespace tandem::timeline
