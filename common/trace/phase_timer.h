// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "common/runtime/device.h"
#include "common/trace/phase.h"
#include "common/trace/step_observer.h"

namespace tandem {

// How one device spent its time over some steps.
struct PhaseTimes {
  std::array<Nanoseconds, kPhaseCount> total{};
  Nanoseconds span{0};  // first to last mark of each step, summed; the totals partition it
  int steps = 0;

  [[nodiscard]] Nanoseconds of(Phase phase) const { return total[static_cast<std::size_t>(phase)]; }
};

enum class PhaseTiming { kOn, kOff };

// A delay that one device meets where it first enters a phase of a step: whoever explains times
// must find it. On one alone, lest delays of several add up along the step.
struct PlantedDelay {
  Phase phase = Phase::kIdle;
  Nanoseconds delay{0};
  int device = 0;
};

struct PhaseOptions {
  PhaseTiming timing = PhaseTiming::kOn;
  std::optional<PlantedDelay> planted{};
  std::vector<StepObserver*> observers{};  // in this order; with timing off too
};

// Marks on one device's main stream where one phase ends and the next begins. The marks are events
// in stream order: they wait for nobody and cost less than a microsecond each. One thread at a
// time.
class PhaseTimer {
 public:
  PhaseTimer(Device& device, const PhaseOptions& options) : device_(device), options_(options) {}

  // From here on in stream order, the device is in `phase`.
  void begin(Stream& stream, Phase phase);

  // The step's last phase ends here.
  void end_step(Stream& stream);

  [[nodiscard]] PhaseTiming timing() const { return options_.timing; }

  // Forgets the step that was begun and will not be ended. Synchronise the stream first.
  void abandon_step();

  // Sums up all steps since the last call and forgets them. Synchronise the stream first.
  [[nodiscard]] PhaseTimes collect();

 private:
  struct Mark {
    std::unique_ptr<TimedEvent> event;
    Phase phase = Phase::kIdle;
    bool ends_step = false;
  };

  void mark(Stream& stream, Phase phase, bool ends_step);
  void meet_planted(Stream& stream, Phase phase);
  Mark& next_mark();

  Device& device_;
  const PhaseOptions options_;
  std::vector<Mark> marks_;  // the first used_ of them are set; the rest are kept for reuse
  std::size_t used_ = 0;
  bool met_planted_ = false;  // in this step
};

}  // namespace tandem
