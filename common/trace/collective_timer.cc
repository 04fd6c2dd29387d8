// SPDX-License-Identifier: Apache-2.0
#include "common/trace/collective_timer.h"

namespace tandem {

void CollectiveTimer::begin(Stream& stream, std::size_t index, Bytes size) {
  if (timing_ == PhaseTiming::kOff) return;
  if (used_ == marks_.size()) {
    marks_.push_back({device_.make_timed_event(), device_.make_timed_event()});
  }
  Mark& mark = marks_[used_];
  mark.index = index;
  mark.size = size;
  stream.record(*mark.start);
}

void CollectiveTimer::end(Stream& stream) {
  if (timing_ == PhaseTiming::kOff) return;
  stream.record(*marks_[used_++].end);
}

std::vector<CollectiveTimes> CollectiveTimer::collect() {
  std::vector<CollectiveTimes> times;
  for (std::size_t i = 0; i < used_; ++i) {
    const Mark& mark = marks_[i];
    if (mark.index >= times.size()) times.resize(mark.index + 1);
    CollectiveTimes& collective = times[mark.index];
    collective.size = mark.size;
    collective.total += *mark.end - *mark.start;
    ++collective.steps;
  }
  used_ = 0;
  return times;
}

}  // namespace tandem
