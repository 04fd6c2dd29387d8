// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "common/runtime/device.h"
#include "common/trace/phase.h"

namespace tandem {

// How one device spent its time over some steps.
struct PhaseTimes {
  std::array<Nanoseconds, kPhaseCount> total{};
  Nanoseconds span{0};  // first to last mark of each step, summed; the totals partition it
  int steps = 0;

  [[nodiscard]] Nanoseconds of(Phase phase) const { return total[static_cast<std::size_t>(phase)]; }
};

enum class PhaseTiming { kOn, kOff };

// Marks on one device's main stream where one phase ends and the next begins. The marks are events
// in stream order: they wait for nobody and cost less than a microsecond each. One thread at a
// time.
class PhaseTimer {
 public:
  PhaseTimer(Device& device, PhaseTiming timing) : device_(device), timing_(timing) {}

  // From here on in stream order, the device is in `phase`.
  void begin(Stream& stream, Phase phase);

  // The step's last phase ends here.
  void end_step(Stream& stream);

  // Sums up all steps since the last call and forgets them. Synchronise the stream first.
  [[nodiscard]] PhaseTimes collect();

 private:
  struct Mark {
    std::unique_ptr<TimedEvent> event;
    Phase phase = Phase::kIdle;
    bool ends_step = false;
  };

  Mark& next_mark();

  Device& device_;
  const PhaseTiming timing_;
  std::vector<Mark> marks_;  // the first used_ of them are set; the rest are kept for reuse
  std::size_t used_ = 0;
};

}  // namespace tandem
