// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

#include "common/runtime/cuda/gpu.h"
#include "common/runtime/stream.h"

namespace tandem::cuda {

// Both kinds of event. Untimed ones leave the factory as Event, so they cannot be subtracted; that
// spares a second class and a cast across two bases on each record.
class CudaEvent final : public TimedEvent {
 public:
  CudaEvent(Gpu& gpu, DeviceId device, EventTiming timing);

  [[nodiscard]] bool is_done() const override;
  [[nodiscard]] Nanoseconds since(const TimedEvent& start) const override;

  [[nodiscard]] DeviceId device() const { return device_; }
  [[nodiscard]] EventTiming timing() const { return timing_; }
  [[nodiscard]] cudaEvent_t get() const { return event_.get(); }
  [[nodiscard]] bool recorded() const { return recorded_.load(std::memory_order_acquire); }

  void set_recorded() { recorded_.store(true, std::memory_order_release); }

 private:
  Gpu& gpu_;
  const DeviceId device_;
  const EventTiming timing_;
  const UniqueEvent event_;
  std::atomic<bool> recorded_{false};  // CUDA knows, but does not report it
};

// The CUDA event behind an event; a logic error where it is another back end's.
[[nodiscard]] CudaEvent& cuda_event(Event& event);
[[nodiscard]] const CudaEvent& cuda_event(const Event& event);

}  // namespace tandem::cuda
