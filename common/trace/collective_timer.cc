// SPDX-License-Identifier: Apache-2.0
#include "common/trace/collective_timer.h"

namespace tandem {

void CollectiveTimer::begin(Stream& stream, std::size_t index, Bytes size) {
  if (timing_ == PhaseTiming::kOff) return;
  Mark& mark = marks_.next([this] {
    return Mark{device_.make_timed_event(), device_.make_timed_event()};
  });
  mark.index = index;
  mark.size = size;
  stream.record(*mark.start);
}

void CollectiveTimer::end(Stream& stream) {
  if (timing_ == PhaseTiming::kOff) return;
  stream.record(*marks_.latest().end);
}

std::vector<CollectiveTimes> CollectiveTimer::collect() {
  std::vector<CollectiveTimes> times;
  for (const std::span<const Mark> marks : marks_.take()) {
    for (const Mark& mark : marks) {
      if (mark.index >= times.size()) times.resize(mark.index + 1);
      CollectiveTimes& collective = times[mark.index];
      collective.size = mark.size;
      collective.total += *mark.end - *mark.start;
      ++collective.steps;
    }
  }
  return times;
}

}  // namespace tandem
