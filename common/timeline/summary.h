// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "common/timeline/timeline.h"
#include "common/timeline/waits.h"

namespace tandem::timeline {

// Figures of one step.
struct StepFigures {
  int step = 0;
  Nanoseconds length{0};  // from the first device's beginning to the last one's end
  // Of the device that ended last:
  int rank = 0;
  int device = 0;
  Nanoseconds communication{0};     // when its collectives ran
  Nanoseconds exposed{0};           // of that, while it waited
  Nanoseconds in_line{0};           // of that, while it did not, but on its own stream
  Nanoseconds in_gaps{0};           // of that, while it did not, and no operation or copy ran
  Nanoseconds hand_over{0};         // it waited, for a collective to begin or after one ended
  Nanoseconds exposed_by_books{0};  // its phase exposed_comm
  Nanoseconds idle{0};              // its phase idle
  // Of all devices:
  Nanoseconds start_skew{0};    // from the first one's beginning to the last one's
  Nanoseconds end_skew{0};      // the same of ends
  Nanoseconds arrival_skew{0};  // the largest of the step's collectives
  std::map<std::string, Nanoseconds> critical_path{};

  // Of communication, the share behind an operation or a copy; 0 where there was none.
  [[nodiscard]] double overlap() const;
};

// Of one device, over all steps.
struct DeviceMeans {
  int rank = 0;
  int device = 0;
  int steps = 0;
  std::map<std::string, Seconds> phases{};
  Seconds step{0};
  Seconds communication{0};
  Seconds exposed{0};
  Seconds hand_over{0};
  Seconds in_line{0};
};

struct Summary {
  std::vector<StepFigures> steps{};
  std::vector<DeviceMeans> devices{};
  std::vector<Wait> waits{};  // the three longest
};

[[nodiscard]] Summary summary_of(const Trace& trace);

// How long collectives ran while the device waited: in its phases exposed_comm and idle.
[[nodiscard]] Nanoseconds exposed_communication(const DeviceStep& device);

// hand_over_in() all its phases exposed_comm.
[[nodiscard]] Nanoseconds hand_over(const DeviceStep& device);

// How long those ran that are its own stream's, while it did not wait: nothing is behind them.
[[nodiscard]] Nanoseconds communication_in_line(const DeviceStep& device);

// How long others ran while it had work to do, and none of its operations and copies ran: they held
// it up where both share a core or a GPU.
[[nodiscard]] Nanoseconds communication_in_gaps(const DeviceStep& device);

// For people: a table of steps and their mean, the critical path by phase, waits and their causes,
// and beside them what the launch found untraced.
[[nodiscard]] std::string to_text(const Trace& trace, const Summary& summary);

// For programs: of each device means over its steps, in seconds.
[[nodiscard]] std::string to_json(const Summary& summary);

}  // namespace tandem::timeline
