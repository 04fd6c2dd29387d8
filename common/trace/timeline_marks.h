// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/timeline/timeline.h"

namespace tandem {

// A point of a device's steps on one of its streams, in the order in which they were enqueued.
struct TimelineMark {
  enum class What {
    kPhaseBegins,  // the preceding phase ends here; the first phase of a step begins the step
    kStepEnds,
    kStepAbandoned,
    kWorkBegins,
    kWorkEnds,  // ends the latest work of the stream that has not ended
    kBucketReady,
    kBucketBack,
    kGpuRan,  // a kernel, or a copy or set of memory, from `at` to `end`
  };

  What what = What::kPhaseBegins;
  std::size_t stream = 0;  // index of the stream in the device
  Nanoseconds at{0};
  timeline::SliceKind kind =
      timeline::SliceKind::kOperation;  // kind of the work, or of what a GPU ran
  std::string name{};                   // name of a phase or work
  std::string layer{};                  // layer of an operation
  int index = -1;                       // index of a collective, a bucket or a part
  Bytes size{};                         // bytes of copies or a collective
  int copies = 1;                       // number of copies in a row
  std::uint64_t number = 0;             // mark's number in the process from 1; CUDA only
  Nanoseconds end{0};                   // end of what a GPU ran
};

// Builds the timeline of a device: a track per stream, named by the stream's work, and the steps'
// buckets. Abandoned steps leave nothing.
[[nodiscard]] timeline::Process timeline_of(int device, const std::vector<TimelineMark>& marks);

}  // namespace tandem
