// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "common/timeline/timeline.h"
#include "common/timeline/waits.h"

namespace tandem::timeline {

// Figures of one step.
struct StepFigures {
  int step = 0;
  Nanoseconds length{0};  // from the first device's beginning to the last device's end
  // The fields below belong to the device that ended last:
  int rank = 0;
  int device = 0;
  Nanoseconds communication{0};  // when the device's collectives ran
  Nanoseconds exposed{0};        // communication while the device waited
  Nanoseconds in_line{0};    // communication on the compute stream while the device did not wait
  Nanoseconds in_gaps{0};    // other communication while the device neither waited nor worked
  Nanoseconds hand_over{0};  // waits before a collective began or after a collective ended
  Nanoseconds exposed_by_account{0};  // the device's phase exposed_comm
  Nanoseconds idle{0};                // the device's phase idle
  // The fields below cover all devices:
  Nanoseconds end_skew{0};      // from the first device's end to the last device's
  Nanoseconds arrival_skew{0};  // largest arrival skew of the step's collectives
  std::map<std::string, Nanoseconds> critical_path{};

  // The share of communication that ran behind an operation or a copy; 0 without communication.
  [[nodiscard]] double overlap() const;
};

// The means of one device over all steps.
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

struct TraceSummary {
  std::vector<StepFigures> steps{};
  std::vector<DeviceMeans> devices{};
  std::vector<Wait> waits{};  // the three longest waits
};

[[nodiscard]] TraceSummary summary_of(const Trace& trace);

// How long collectives ran while the device waited, in its phases exposed_comm and idle.
[[nodiscard]] Nanoseconds exposed_communication(const DeviceStep& device);

// The sum of hand_over_in() over the device's phases exposed_comm.
[[nodiscard]] Nanoseconds hand_over(const DeviceStep& device);

// How long collectives ran on the device's compute stream while the device did not wait; such
// collectives hide behind no work.
[[nodiscard]] Nanoseconds communication_in_line(const DeviceStep& device);

// How long other collectives ran while the device had work to do and none of its operations and
// copies ran: these collectives held the device up where both share a core or a GPU.
[[nodiscard]] Nanoseconds communication_in_gaps(const DeviceStep& device);

[[nodiscard]] inline double milliseconds(Nanoseconds time) { return Seconds(time).count() * 1e3; }

// A JSON text for programs: each device's means over its steps, in seconds.
[[nodiscard]] std::string to_json(const TraceSummary& summary);

// A fact of the trace by its name; "?" where the trace lacks the fact.
[[nodiscard]] std::string fact(const Trace& trace, const std::string& name);

// The traced subject in one line: "ddp as processes, mlp-base on 2 devices (host), global batch
// 64".
[[nodiscard]] std::string subject_of(const Trace& trace);

}  // namespace tandem::timeline
