// SPDX-License-Identifier: Apache-2.0
#include "common/trace/phase_timer.h"

namespace tandem {

void PhaseTimer::mark(Stream& stream, Phase phase, bool ends_step) {
  if (options_.timing == PhaseTiming::kOff) return;
  Mark& mark = marks_.next([this] { return Mark{device_.make_timed_event()}; });
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

void PhaseTimer::abandon_step(Stream& stream) {
  marks_.forget_latest_while([](const Mark& mark) { return !mark.ends_step; });
  met_planted_ = false;
  for (StepObserver* const observer : options_.observers) observer->step_abandoned(device_, stream);
}

PhaseTimes PhaseTimer::collect() {
  const std::span<const Mark> marks = marks_.take();
  PhaseTimes times;
  for (std::size_t i = 0; i + 1 < marks.size(); ++i) {
    if (marks[i].ends_step) continue;  // the time between steps
    const Nanoseconds took = *marks[i + 1].event - *marks[i].event;
    times.total[static_cast<std::size_t>(marks[i].phase)] += took;
    times.span += took;
    if (marks[i + 1].ends_step) ++times.steps;
  }
  return times;
}

void CollectiveTimer::ready(Stream& compute, std::size_t index) {
  for (WorkObserver* const observer : work_) observer->bucket_ready(device_, compute, index);
}

void CollectiveTimer::back(Stream& compute, std::size_t index) {
  for (WorkObserver* const observer : work_) observer->bucket_back(device_, compute, index);
}

void CollectiveTimer::begin(Stream& stream, std::size_t index, Bytes size) {
  for (WorkObserver* const observer : work_) {
    observer->work_begins(device_, stream, work(index, size));
  }
  if (timing_ == PhaseTiming::kOff) return;
  Mark& mark = marks_.next([this] {
    return Mark{device_.make_timed_event(), device_.make_timed_event()};
  });
  mark.index = index;
  mark.size = size;
  stream.record(*mark.start);
}

void CollectiveTimer::end(Stream& stream, std::size_t index, Bytes size) {
  if (timing_ == PhaseTiming::kOn) stream.record(*marks_.latest().end);
  for (WorkObserver* const observer : work_) {
    observer->work_ends(device_, stream, work(index, size));
  }
}

std::vector<CollectiveTimes> CollectiveTimer::collect() {
  std::vector<CollectiveTimes> times;
  for (const Mark& mark : marks_.take()) {
    if (mark.index >= times.size()) times.resize(mark.index + 1);
    CollectiveTimes& collective = times[mark.index];
    collective.size = mark.size;
    collective.total += *mark.end - *mark.start;
    ++collective.steps;
  }
  return times;
}

}  // namespace tandem
