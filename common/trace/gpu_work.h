// SPDX-License-Identifier: Apache-2.0
//
// Brings what a GPU says that it ran among the marks of its device's steps.
#pragma once

#include <vector>

#include "common/trace/timeline_marks.h"

namespace tandem {

// A mark of what a GPU ran (kGpuRan), and behind which number of a mark it was enqueued; 0 where
// nobody knows, since a thread of NCCL's launched it.
struct GpuWork {
  TimelineMark ran;
  std::uint64_t behind = 0;
};

struct MarksWithWork {
  std::vector<TimelineMark> marks;
  Nanoseconds moved{0};  // by which a mark's time was changed, at most
};

// The marks of a device, by their numbers, with what its GPU ran behind those that it was enqueued
// behind. On a stream, order tells what two clocks cannot: a mark is no later than what was
// enqueued after it, and no earlier than the end of what was enqueued before. So the marks' times,
// which are of events, are moved to those of the work, as little as that takes: all alike, as one
// clock off the other, then each by itself. Work whose mark nobody knows is put by its time where
// the marks of its stream say that work goes on, or else into the step around it, or nowhere.
[[nodiscard]] MarksWithWork with_gpu_work(std::vector<TimelineMark> marks,
                                          std::vector<GpuWork> work);

}  // namespace tandem
