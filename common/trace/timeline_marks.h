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
    kPhaseBegins,  // and the one before ends; the first of a step begins it
    kStepEnds,
    kStepAbandoned,
    kWorkBegins,
    kWorkEnds,  // the latest of its stream that has not ended
    kBucketReady,
    kBucketBack,
    kPartReady,     // of a bucket that is yet to be made up
    kBucketFilled,  // made up of parts of the step; of no time
    kGpuRan,        // a kernel, or a copy or set of memory: from `at` to `end`
  };

  What what = What::kPhaseBegins;
  std::size_t stream = 0;  // of the device
  Nanoseconds at{0};
  timeline::Kind kind = timeline::Kind::kOperation;  // of work, or of what a GPU ran
  std::string name{};                                // of a phase or work
  std::string layer{};                               // of an operation
  int index = -1;                                    // of a collective, a bucket or a part
  Bytes size{};                                      // of copies or a collective
  int copies = 1;                                    // in a row, that begin or end
  std::vector<int> parts{};                          // of a bucket
  std::uint64_t number = 0;      // among the process's, from 1; of none but CUDA's
  Nanoseconds end{0};            // of what a GPU ran
  std::uint64_t graph_node = 0;  // of it, in a replay
};

// What a device did: a track per stream, named by what is on it, and the steps' buckets. Steps that
// were abandoned leave nothing.
[[nodiscard]] timeline::Process timeline_of(int device, const std::vector<TimelineMark>& marks);

}  // namespace tandem
