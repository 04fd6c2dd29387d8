// SPDX-License-Identifier: Apache-2.0
#include "common/runtime/cuda/cuda_event.h"

#include <cmath>
#include <typeinfo>

#include "common/base/error.h"
#include "common/runtime/cuda/check.h"
#include "common/runtime/span.h"

namespace tandem::cuda {

CudaEvent::CudaEvent(Gpu& gpu, DeviceId device, EventTiming timing)
    : gpu_(gpu), device_(device), timing_(timing), event_(gpu.ordinal(), timing) {}

bool CudaEvent::is_done() const {
  if (!recorded()) return true;
  gpu_.throw_if_failed();
  const DeviceGuard here(gpu_.ordinal());
  return gpu_.is_done(cudaEventQuery(get()), "cudaEventQuery");
}

Nanoseconds CudaEvent::since(const TimedEvent& start) const {
  const CudaEvent& first = cuda_event(start);
  TANDEM_CHECK(first.device_ == device_, "time asked between events of {} and {}",
               to_string(first.device_), to_string(device_));
  TANDEM_CHECK(timing_ == EventTiming::kOn && first.timing_ == EventTiming::kOn,
               "time asked of an untimed event");
  TANDEM_CHECK(first.recorded() && first.is_done() && recorded() && is_done(),
               "time asked between events that are not both recorded and done");
  const DeviceGuard here(gpu_.ordinal());
  float milliseconds = 0;  // half a microsecond fine
  gpu_.after_wait(cudaEventElapsedTime(&milliseconds, first.get(), get()), "cudaEventElapsedTime");
  return Nanoseconds{std::llround(static_cast<double>(milliseconds) * 1e6)};
}

CudaEvent& cuda_event(Event& event) {
  TANDEM_CHECK(typeid(event) == typeid(CudaEvent), "the event is not of the CUDA back end");
  return static_cast<CudaEvent&>(event);
}

const CudaEvent& cuda_event(const Event& event) {
  TANDEM_CHECK(typeid(event) == typeid(CudaEvent), "the event is not of the CUDA back end");
  return static_cast<const CudaEvent&>(event);
}

}  // namespace tandem::cuda
