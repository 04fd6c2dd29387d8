// SPDX-License-Identifier: Apache-2.0
#include "common/runtime/cuda/cuda_device.h"

#include <cstring>

#include "common/base/error.h"
#include "common/runtime/cuda/check.h"
#include "common/runtime/cuda/cuda_event.h"
#include "common/runtime/cuda/cuda_stream.h"
#include "common/runtime/cuda/gpu.h"
#include "common/runtime/device.h"
#include "common/runtime/host/cores.h"
#include "common/runtime/memory_account.h"

namespace tandem::cuda {

// Memory of one logical device, from cudaMalloc; returned to its account on destruction. Making
// and freeing one waits for the GPU and its peers: never between the launches of a collective.
class CudaBuffer final : public Buffer {
 public:
  CudaBuffer(Gpu& gpu, DeviceId device, MemoryAccount& account, Bytes size);
  ~CudaBuffer() override;

  [[nodiscard]] ByteSpan bytes() override;

 private:
  void allocate();

  Gpu& gpu_;
  const DeviceId device_;
  MemoryAccount& account_;
  const Bytes size_;
  void* data_ = nullptr;  // stays null where size_ is 0
};

// Pinned host memory, which every GPU of the process reaches.
class PinnedBuffer final : public Buffer {
 public:
  PinnedBuffer(int gpu, Bytes size);  // `gpu`: whose context pins it
  ~PinnedBuffer() override;

  [[nodiscard]] ByteSpan bytes() override;

 private:
  const int gpu_;
  const Bytes size_;
  void* data_ = nullptr;
};

namespace {

std::size_t count_of(Bytes size) { return static_cast<std::size_t>(size.value); }

}  // namespace

CudaBuffer::CudaBuffer(Gpu& gpu, DeviceId device, MemoryAccount& account, Bytes size)
    : gpu_(gpu), device_(device), account_(account), size_(size) {
  TANDEM_CHECK(size.value >= 0, "{} bytes asked", size.value);
  account_.charge(size_);
  try {
    if (size_.value > 0) allocate();
  } catch (...) {
    account_.release(size_);
    throw;
  }
}

void CudaBuffer::allocate() {
  gpu_.throw_if_failed();
  const DeviceGuard here(gpu_.ordinal());
  const cudaError_t status = cudaMalloc(&data_, count_of(size_));
  if (status == cudaErrorMemoryAllocation) {
    static_cast<void>(cudaGetLastError());
    // Before the capacity was: others use this GPU too.
    fail(ErrorKind::kOutOfMemory,
         "{} is out of memory: {} asked, {} left on its GPU, in one piece or not; use a smaller "
         "model or batch, or end what else runs there",
         to_string(device_), to_string(size_), to_string(gpu_.free_memory()));
  }
  gpu_.after_wait(status, "cudaMalloc");
  try {
    gpu_.zero_now(data_, size_);
  } catch (...) {
    TANDEM_CUDA_NOTHROW(gpu_.ordinal(), cudaFree(data_));
    throw;
  }
}

CudaBuffer::~CudaBuffer() {
  if (data_ != nullptr) {
    const DeviceGuard here(gpu_.ordinal(), std::nothrow);
    TANDEM_CUDA_NOTHROW(gpu_.ordinal(), cudaFree(data_));
  }
  account_.release(size_);
}

ByteSpan CudaBuffer::bytes() { return {static_cast<std::byte*>(data_), size_.value, device_}; }

PinnedBuffer::PinnedBuffer(int gpu, Bytes size) : gpu_(gpu), size_(size) {
  TANDEM_CHECK(size.value >= 0, "{} bytes asked", size.value);
  if (size_.value == 0) return;
  const DeviceGuard here(gpu_);
  const cudaError_t status = cudaHostAlloc(&data_, count_of(size_), cudaHostAllocPortable);
  if (status == cudaErrorMemoryAllocation) {
    static_cast<void>(cudaGetLastError());
    fail(ErrorKind::kOutOfMemory,
         "host memory is out: {} of pinned memory asked; use a smaller model or batch, or raise "
         "the memory limit of the machine or container",
         to_string(size_));
  }
  check(status, "cudaHostAlloc", gpu_);
  std::memset(data_, 0, count_of(size_));
}

PinnedBuffer::~PinnedBuffer() {
  if (data_ == nullptr) return;
  const DeviceGuard here(gpu_, std::nothrow);
  TANDEM_CUDA_NOTHROW(gpu_, cudaFreeHost(data_));
}

ByteSpan PinnedBuffer::bytes() {
  // Tagged like the host back end's own host memory: it is one place, whatever back end asks.
  return {static_cast<std::byte*>(data_), size_.value, {Backend::kHost, DeviceId::kHostMemory}};
}

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
