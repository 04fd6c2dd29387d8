// SPDX-License-Identifier: Apache-2.0
//
// Owners of raw CUDA handles; the borrowed forms are cudaStream_t and cudaEvent_t themselves.
#pragma once

#include <cuda_runtime_api.h>

#include "common/runtime/stream.h"

namespace tandem::cuda {

// A stream that does not synchronise with CUDA's null stream. Destruction waits for queued work:
// cudaStreamDestroy alone would return before it is done.
class UniqueStream {
 public:
  UniqueStream(int gpu, StreamPriority priority);
  UniqueStream(const UniqueStream&) = delete;
  UniqueStream& operator=(const UniqueStream&) = delete;
  ~UniqueStream();

  [[nodiscard]] cudaStream_t get() const { return stream_; }

 private:
  const int gpu_;
  cudaStream_t stream_ = nullptr;
};

enum class EventTiming { kOff, kOn };

class UniqueEvent {
 public:
  UniqueEvent(int gpu, EventTiming timing);
  UniqueEvent(const UniqueEvent&) = delete;
  UniqueEvent& operator=(const UniqueEvent&) = delete;
  ~UniqueEvent();

  [[nodiscard]] cudaEvent_t get() const { return event_; }

 private:
  const int gpu_;
  cudaEvent_t event_ = nullptr;
};

}  // namespace tandem::cuda
