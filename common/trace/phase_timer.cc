// SPDX-License-Identifier: Apache-2.0
#include "common/trace/phase_timer.h"

namespace tandem {

PhaseTimer::Mark& PhaseTimer::next_mark() {
  if (used_ == marks_.size()) marks_.push_back({device_.make_timed_event()});
  return marks_[used_++];
}

void PhaseTimer::begin(Stream& stream, Phase phase) {
  if (timing_ == PhaseTiming::kOff) return;
  Mark& mark = next_mark();
  mark.phase = phase;
  mark.ends_step = false;
  stream.record(*mark.event);
}

void PhaseTimer::end_step(Stream& stream) {
  if (timing_ == PhaseTiming::kOff) return;
  Mark& mark = next_mark();
  mark.ends_step = true;
  stream.record(*mark.event);
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
