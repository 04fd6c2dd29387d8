// SPDX-License-Identifier: Apache-2.0
#include "common/trace/phase_timer.h"

namespace tandem {

PhaseTimer::Mark& PhaseTimer::next_mark() {
  if (used_ == marks_.size()) marks_.push_back({device_.make_timed_event()});
  return marks_[used_++];
}

void PhaseTimer::mark(Stream& stream, Phase phase, bool ends_step) {
  if (options_.timing == PhaseTiming::kOff) return;
  Mark& mark = next_mark();
  mark.phase = phase;
  mark.ends_step = ends_step;
  stream.record(*mark.event);
}

void PhaseTimer::begin(Stream& stream, Phase phase) {
  mark(stream, phase, false);
  for (StepObserver* const observer : options_.observers) {
    observer->phase_begins(device_, stream, phase);
  }
  if (options_.planted) meet_planted(stream, phase);
}

void PhaseTimer::meet_planted(Stream& stream, Phase phase) {
  if (phase != options_.planted->phase || met_planted_ ||
      device_.id().index != options_.planted->device)
    return;
  met_planted_ = true;
  stream.delay(options_.planted->delay);
}

void PhaseTimer::end_step(Stream& stream) {
  mark(stream, Phase::kIdle, true);
  met_planted_ = false;
  for (StepObserver* const observer : options_.observers) observer->step_ends(device_, stream);
}

void PhaseTimer::abandon_step() {
  while (used_ > 0 && !marks_[used_ - 1].ends_step) --used_;
  met_planted_ = false;
}

PhaseTimes PhaseTimer::collect() {
  PhaseTimes times;
  for (std::size_t i = 0; i + 1 < used_; ++i) {
    if (marks_[i].ends_step) continue;  // between steps
    const Nanoseconds took = *marks_[i + 1].event - *marks_[i].event;
    times.total[static_cast<std::size_t>(marks_[i].phase)] += took;
    times.span += took;
    if (marks_[i + 1].ends_step) ++times.steps;
  }
  used_ = 0;
  return times;
}

}  // namespace tandem
