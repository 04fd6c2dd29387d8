// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/runtime/cuda/check.h"
#include "common/runtime/cuda/cuda_device.h"
#include "common/runtime/stream.h"

namespace tandem::cuda {

class CudaEvent;

// A non-blocking CUDA stream. An error that loses the GPU's context fails every stream of that GPU,
// and no stream of another GPU, whoever waited for whose events.
class CudaStream final : public Stream {
 public:
  CudaStream(const DeviceMap& map, DeviceId device, StreamPriority priority);

  [[nodiscard]] DeviceId device() const override { return device_; }
  void record(Event& event) override;
  void wait(const Event& event) override;
  void start_after(TimePoint time) override;
  void delay(Nanoseconds duration) override;
  void synchronize() override;
  [[nodiscard]] bool is_done() override;

  // Host memory must be the platform's (pinned): CUDA blocks the caller for any other.
  void copy_bytes(ByteSpan destination, ConstByteSpan source) override;
  void zero_bytes(ByteSpan destination) override;

  // Queues what `launch(cudaStream_t)` does with its GPU current, unless the stream has failed.
  // `call` names it in errors; launch returns what CUDA returned.
  template <class Launch>
  void enqueue(const char* call, const Launch& launch) {
    if (gpu_.failed()) return;
    const DeviceGuard here(gpu_.ordinal());
    gpu_.after_enqueue(launch(get()), call);
  }

  [[nodiscard]] cudaStream_t get() const { return stream_.get(); }
  [[nodiscard]] Gpu& gpu() const { return gpu_; }

 private:
  void sleep(cudaHostFn_t how, Nanoseconds time);

  const DeviceMap& map_;
  const DeviceId device_;
  Gpu& gpu_;
  const UniqueStream stream_;
};

// The CUDA stream behind a stream; a logic error where it is another back end's.
[[nodiscard]] CudaStream& cuda_stream(Stream& stream);

}  // namespace tandem::cuda
