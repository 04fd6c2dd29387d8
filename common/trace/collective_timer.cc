// SPDX-License-Identifier: Apache-2.0
#include "common/trace/collective_timer.h"

namespace tandem {

void CollectiveTimer::ready(Stream& compute, std::size_t index) {
  for (WorkObserver* const observer : work_) observer->bucket_ready(device_, compute, index);
}

void CollectiveTimer::back(Stream& compute, std::size_t index) {
  for (WorkObserver* const observer : work_) observer->bucket_back(device_, compute, index);
}

void CollectiveTimer::part_ready(Stream& compute, int part) {
  for (WorkObserver* const observer : work_) observer->part_ready(device_, compute, part);
}

void CollectiveTimer::filled(std::size_t index, const std::vector<int>& parts) {
  for (WorkObserver* const observer : work_) observer->bucket_filled(device_, index, parts);
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
