// SPDX-License-Identifier: Apache-2.0
#include "common/runtime/cuda/cuda_platform.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "common/base/check.h"
#include "common/runtime/cuda/check.h"
#include "common/runtime/cuda/cuda_buffer.h"
#include "common/runtime/cuda/cuda_device.h"
#include "common/runtime/cuda/device_guard.h"
#include "common/runtime/device_memory.h"
#include "common/runtime/thread_timer.h"

namespace tandem::cuda {
namespace {

int count_gpus() {
  int count = 0;
  TANDEM_CUDA(0, cudaGetDeviceCount(&count));
  return count;
}

void check_count(const PlatformOptions& options, int gpus) {
  TANDEM_CHECK(options.devices >= 1, "{} devices", options.devices);
  if (options.devices <= gpus || (options.oversubscribe && gpus > 0)) return;
  fail(ErrorKind::kUsage,
       "{} devices asked, but CUDA shows {} GPU{}: ask for {} or fewer, or pass --oversubscribe to "
       "let devices share GPUs",
       options.devices, gpus, gpus == 1 ? "" : "s", gpus);
}

void enable_peer_access(int from, int to) {
  int possible = 0;
  TANDEM_CUDA(from, cudaDeviceCanAccessPeer(&possible, from, to));
  if (possible == 0) return;
  const DeviceGuard here(from);
  const cudaError_t status = cudaDeviceEnablePeerAccess(to, 0);
  if (status == cudaErrorPeerAccessAlreadyEnabled) {
    static_cast<void>(cudaGetLastError());
    return;
  }
  check(status, "cudaDeviceEnablePeerAccess", from);
}

std::vector<std::unique_ptr<Gpu>> open_gpus(int count) {
  std::vector<std::unique_ptr<Gpu>> gpus;
  for (int i = 0; i < count; ++i) gpus.push_back(std::make_unique<Gpu>(i));
  for (int from = 0; from < count; ++from) {
    for (int to = 0; to < count; ++to) {
      if (from != to) enable_peer_access(from, to);
    }
  }
  return gpus;
}

// What each logical device may use: as asked, else an even share of what its GPU has free. Device i
// is on GPU i modulo their number.
std::vector<Bytes> capacities(const DeviceMap& map, const PlatformOptions& options) {
  std::vector<Bytes> result(static_cast<std::size_t>(map.devices()));
  for (int gpu = 0; gpu < map.gpus(); ++gpu) {
    const int sharers = (map.devices() - gpu + map.gpus() - 1) / map.gpus();
    const Bytes left = map.gpu_of({Backend::kCuda, gpu}).free_memory();
    Bytes together;
    for (int device = gpu; device < map.devices(); device += map.gpus()) {
      const Bytes share = asked_memory(options, device).value_or(Bytes{left.value / sharers});
      together += result[static_cast<std::size_t>(device)] = share;
    }
    if (together > left) {
      fail(ErrorKind::kUsage,
           "--device-memory: {} for {} device{} on GPU {}, which has {} free: ask for less",
           to_string(together), sharers, sharers == 1 ? "" : "s", gpu, to_string(left));
    }
  }
  return result;
}

class CudaPlatform final : public Platform {
 public:
  CudaPlatform(const PlatformOptions& options, int gpus)
      : map_(open_gpus(std::min(options.devices, gpus)), options.devices) {
    const std::vector<Bytes> shares = capacities(map_, options);
    for (int index = 0; index < options.devices; ++index) {
      const Bytes share = shares[static_cast<std::size_t>(index)];
      devices_.push_back(
          std::make_unique<CudaDevice>(map_, DeviceId{Backend::kCuda, index}, share));
    }
  }

  [[nodiscard]] Backend backend() const override { return Backend::kCuda; }
  [[nodiscard]] int device_count() const override { return map_.devices(); }
  [[nodiscard]] bool oversubscribed() const override { return map_.devices() > map_.gpus(); }

  [[nodiscard]] Device& device(int index) override {
    TANDEM_CHECK(index >= 0 && index < device_count(), "device {} of {}", index, device_count());
    return *devices_[static_cast<std::size_t>(index)];
  }

  [[nodiscard]] std::unique_ptr<Buffer> allocate_host(Bytes size) override {
    return std::make_unique<PinnedBuffer>(map_.gpu_of({Backend::kCuda, 0}).ordinal(), size);
  }

  [[nodiscard]] std::unique_ptr<Timer> make_timer(Device& device, Nanoseconds period,
                                                  TimerCallback callback) override {
    return make_thread_timer(device, period, std::move(callback));
  }

  [[nodiscard]] Lateness take_lateness() override { return {}; }

 private:
  const DeviceMap map_;  // before the devices, which refer to it
  std::vector<std::unique_ptr<CudaDevice>> devices_;
};

}  // namespace

std::unique_ptr<Platform> make_cuda_platform(const PlatformOptions& options) {
  if (options.link) {
    fail(ErrorKind::kUsage,
         "--link: a link is modelled between host devices, and these are GPUs: leave it out, or "
         "pass --backend=host");
  }
  check_device_memory(options);
  const int gpus = count_gpus();
  check_count(options, gpus);
  return std::make_unique<CudaPlatform>(options, gpus);
}

}  // namespace tandem::cuda
