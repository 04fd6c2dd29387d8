// SPDX-License-Identifier: Apache-2.0
#include "common/runtime/cuda/handles.h"

#include "common/runtime/cuda/check.h"
#include "common/runtime/cuda/device_guard.h"

namespace tandem::cuda {

UniqueStream::UniqueStream(int gpu, StreamPriority priority) : gpu_(gpu) {
  const DeviceGuard here(gpu_);
  int lowest = 0;  // smaller is more urgent
  int highest = 0;
  TANDEM_CUDA(gpu_, cudaDeviceGetStreamPriorityRange(&lowest, &highest));
  const int level = priority == StreamPriority::kHigh ? highest : lowest;
  TANDEM_CUDA(gpu_, cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, level));
}

UniqueStream::~UniqueStream() {
  const DeviceGuard here(gpu_, std::nothrow);
  TANDEM_CUDA_NOTHROW(gpu_, cudaStreamSynchronize(stream_));
  TANDEM_CUDA_NOTHROW(gpu_, cudaStreamDestroy(stream_));
}

UniqueEvent::UniqueEvent(int gpu, EventTiming timing) : gpu_(gpu) {
  const DeviceGuard here(gpu_);
  const unsigned flags = timing == EventTiming::kOn ? cudaEventDefault : cudaEventDisableTiming;
  TANDEM_CUDA(gpu_, cudaEventCreateWithFlags(&event_, flags));
}

UniqueEvent::~UniqueEvent() {
  const DeviceGuard here(gpu_, std::nothrow);
  TANDEM_CUDA_NOTHROW(gpu_, cudaEventDestroy(event_));
}

}  // namespace tandem::cuda
