// SPDX-License-Identifier: Apache-2.0
#include "common/runtime/cuda/cuda_device.h"

#include "common/runtime/cuda/cuda_buffer.h"
#include "common/runtime/cuda/cuda_event.h"
#include "common/runtime/cuda/cuda_stream.h"
#include "common/runtime/cuda/device_guard.h"
#include "common/runtime/host/cores.h"

namespace tandem::cuda {

namespace {

std::unique_ptr<const host::MemoryNode> preferred(const std::optional<int>& node) {
  return node ? std::make_unique<const host::MemoryNode>(*node) : nullptr;
}

}  // namespace

CudaDevice::CudaDevice(const DeviceMap& map, DeviceId id, Bytes capacity, const NearHost& near)
    : map_(map),
      id_(id),
      gpu_(map.gpu_of(id)),
      account_(id, capacity),
      near_cpus_(near.cpus),
      near_memory_(preferred(near.memory_node)) {}

std::string CudaDevice::name() const {
  return fmt::format("{} (GPU {})", gpu_.name(), gpu_.ordinal());
}

std::unique_ptr<Buffer> CudaDevice::allocate(Bytes size) {
  return std::make_unique<CudaBuffer>(gpu_, id_, account_, size);
}

std::unique_ptr<Buffer> CudaDevice::allocate_host(Bytes size) {
  std::unique_ptr<Buffer> buffer;
  const auto allocate = [&] { buffer = std::make_unique<PinnedBuffer>(gpu_.ordinal(), size); };
  if (near_memory_) {
    near_memory_->prefer_during(allocate);
  } else {
    allocate();
  }
  return buffer;
}

std::unique_ptr<Stream> CudaDevice::make_stream(StreamPriority priority) {
  return std::make_unique<CudaStream>(map_, id_, priority);
}

std::unique_ptr<Event> CudaDevice::make_event() {
  return std::make_unique<CudaEvent>(gpu_, id_, EventTiming::kOff);
}

std::unique_ptr<TimedEvent> CudaDevice::make_timed_event() {
  return std::make_unique<CudaEvent>(gpu_, id_, EventTiming::kOn);
}

void CudaDevice::bind_this_thread() {
  bind_thread(gpu_.ordinal());
  if (!near_cpus_.empty()) host::bind_this_thread(near_cpus_);
}

CudaDevice& cuda_device(Device& device) {
  TANDEM_CHECK(device.id().backend == Backend::kCuda, "GPU memory asked of {}",
               to_string(device.id()));
  return static_cast<CudaDevice&>(device);
}

}  // namespace tandem::cuda
