// SPDX-License-Identifier: Apache-2.0
#include "common/runtime/cuda/cuda_platform.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "common/base/error.h"
#include "common/runtime/cuda/check.h"
#include "common/runtime/cuda/cuda_device.h"
#include "common/runtime/cuda/device_guard.h"
#include "common/runtime/cuda/gpu_choice.h"
#include "common/runtime/memory_account.h"
#include "common/runtime/timer.h"

namespace tandem::cuda {
namespace {

int count_gpus() {
  int count = 0;
  TANDEM_CUDA(0, cudaGetDeviceCount(&count));
  return count;
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

// Where peer access is not enabled, CUDA takes copies between GPUs through the host's memory.
std::vector<std::unique_ptr<Gpu>> open_gpus(const std::vector<int>& ordinals, PeerAccess access) {
  std::vector<std::unique_ptr<Gpu>> gpus;
  for (const int ordinal : ordinals) gpus.push_back(std::make_unique<Gpu>(ordinal));
  if (access == PeerAccess::kOff) return gpus;
  for (const int from : ordinals) {
    for (const int to : ordinals) {
      if (from != to) enable_peer_access(from, to);
    }
  }
  return gpus;
}

// Of the own device, whose GPU other processes may share.
Bytes own_capacity(const DeviceMap& map, const PlatformOptions& options) {
  const int own = *options.own_device;
  const Bytes left = map.gpu_of({Backend::kCuda, own}).free_memory();
  const Bytes share =
      asked_memory(options, own).value_or(Bytes{left.value / options.processes_on_gpu});
  if (share <= left) return share;
  fail(ErrorKind::kUsage,
       "--device-memory: {} for device {} on GPU {}, which has {} free: ask for less",
       to_string(share), own, map.gpu_of({Backend::kCuda, own}).ordinal(), to_string(left));
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
           to_string(together), sharers, sharers == 1 ? "" : "s",
           map.gpu_of({Backend::kCuda, gpu}).ordinal(), to_string(left));
    }
  }
  return result;
}

// Of the process's device with this number among its own.
NearHost near_host(const PlatformOptions& options, int number) {
  return options.near_hosts.empty() ? NearHost{}
                                    : options.near_hosts.at(static_cast<std::size_t>(number));
}

class CudaPlatform final : public Platform {
 public:
  CudaPlatform(const PlatformOptions& options, const std::vector<int>& ordinals)
      : has_own_device_(options.own_device.has_value()),
        processes_on_gpu_(options.processes_on_gpu),
        map_(open_gpus(ordinals, options.peer_access), options.devices, options.own_device) {
    devices_.resize(static_cast<std::size_t>(options.devices));
    if (options.own_device) {
      add(*options.own_device, own_capacity(map_, options), near_host(options, 0));
      return;
    }
    const std::vector<Bytes> shares = capacities(map_, options);
    for (int index = 0; index < options.devices; ++index) {
      add(index, shares[static_cast<std::size_t>(index)], near_host(options, index));
    }
  }

  [[nodiscard]] Backend backend() const override { return Backend::kCuda; }
  [[nodiscard]] int device_count() const override { return map_.devices(); }
  [[nodiscard]] bool oversubscribed() const override {
    return processes_on_gpu_ > 1 || (!has_own_device_ && map_.devices() > map_.gpus());
  }

  [[nodiscard]] Device& device(int index) override {
    TANDEM_CHECK(map_.has(index), "device {} of {}, or another process's", index, device_count());
    return *devices_[static_cast<std::size_t>(index)];
  }

  [[nodiscard]] std::unique_ptr<Buffer> allocate_host(Bytes size) override {
    return any_device().allocate_host(size);
  }

  [[nodiscard]] std::unique_ptr<Timer> make_timer(Device& device, Nanoseconds period,
                                                  TimerCallback callback) override {
    return make_thread_timer(device, period, std::move(callback));
  }

  [[nodiscard]] Lateness take_lateness() override { return {}; }

 private:
  void add(int index, Bytes capacity, const NearHost& near) {
    devices_[static_cast<std::size_t>(index)] =
        std::make_unique<CudaDevice>(map_, DeviceId{Backend::kCuda, index}, capacity, near);
  }
  [[nodiscard]] Device& any_device() {
    return **std::ranges::find_if(devices_, [](const auto& device) { return device != nullptr; });
  }

  const bool has_own_device_;
  const int processes_on_gpu_;
  const DeviceMap map_;                               // before the devices, which refer to it
  std::vector<std::unique_ptr<CudaDevice>> devices_;  // by index; null: another process's
};

}  // namespace

std::unique_ptr<Platform> make_cuda_platform(const PlatformOptions& options) {
  if (options.link) {
    fail(ErrorKind::kUsage,
         "--link: a link is modelled between host devices, and these are GPUs: leave it out, or "
         "pass --backend=host");
  }
  check_device_memory(options);
  const int visible = count_gpus();
  check_gpus(options, visible);
  return std::make_unique<CudaPlatform>(options, gpus_to_open(options, visible));
}

}  // namespace tandem::cuda
