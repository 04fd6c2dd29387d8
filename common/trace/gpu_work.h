// SPDX-License-Identifier: Apache-2.0
//
// Merges the work that a GPU reports into the marks of its device's steps.
#pragma once

#include <vector>

#include "common/trace/timeline_marks.h"

namespace tandem {

// A mark of the work that a GPU ran (kGpuRan), and the number of the mark behind which the work was
// enqueued; 0 where the number is unknown, since a thread of NCCL's launched the work.
struct GpuWork {
  TimelineMark ran;
  std::uint64_t behind = 0;
};

struct MarksWithWork {
  std::vector<TimelineMark> marks;
  Nanoseconds moved{0};  // the largest change of a mark's time
};

// Merges a device's marks, by number, with the work that its GPU ran behind the marks. On a stream,
// order tells what two clocks cannot: a mark is no later than the work enqueued after the mark, and
// no earlier than the end of the work enqueued before. So the marks' times, which are times of
// events, are moved to fit the times of the work, as little as possible: first all marks alike, as
// one clock is off the other, then each mark by itself. Work whose mark is unknown is put by its
// time where its stream's marks say that work goes on, or else into the step around this time, or
// nowhere.
[[nodiscard]] MarksWithWork with_gpu_work(std::vector<TimelineMark> marks,
                                          std::vector<GpuWork> work);

}  // namespace tandem
