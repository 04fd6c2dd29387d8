// SPDX-License-Identifier: Apache-2.0
#include "common/runtime/cuda/cuda_platform.h"

#include <cuda_runtime_api.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include "common/base/error.h"
#include "common/runtime/cuda/check.h"
#include "common/runtime/cuda/cuda_device.h"
#include "common/runtime/cuda/gpu.h"
#include "common/runtime/cuda/own_kernels.h"
#include "common/runtime/device.h"
#include "common/runtime/memory_account.h"

namespace tandem::cuda {

namespace {

std::vector<int> candidates(const PlatformOptions& options, int visible) {
  std::vector<int> all = options.gpus;
  std::erase_if(all, [visible](int gpu) { return gpu < 0 || gpu >= visible; });
  if (!options.gpus.empty()) return all;
  all.resize(static_cast<std::size_t>(std::max(0, visible)));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

const char* plural(int count) { return count == 1 ? "" : "s"; }

}  // namespace

std::vector<int> gpus_to_open(const PlatformOptions& options, int visible) {
  std::vector<int> all = candidates(options, visible);
  if (all.empty()) return all;
  if (options.own_device) {
    return {all[static_cast<std::size_t>(*options.own_device) % all.size()]};
  }
  all.resize(std::min(all.size(), static_cast<std::size_t>(options.devices)));
  return all;
}

void check_gpus(const PlatformOptions& options, int visible) {
  TANDEM_CHECK(options.devices >= 1, "{} devices", options.devices);
  const std::set<int> once(options.gpus.begin(), options.gpus.end());
  if (once.size() != options.gpus.size()) {
    fail(ErrorKind::kUsage, "--gpus={}: name each GPU once", fmt::join(options.gpus, ","));
  }
  for (const int gpu : options.gpus) {
    if (gpu >= 0 && gpu < visible) continue;
    fail(ErrorKind::kUsage, "--gpus names {}, but CUDA shows {} GPU{}, counted from 0", gpu,
         visible, plural(visible));
  }
  const int gpus = static_cast<int>(candidates(options, visible).size());
  // Processes may each be shown other GPUs: whether they share one, they find out together.
  if (options.own_device || options.devices <= gpus || (options.oversubscribe && gpus > 0)) return;
  fail(ErrorKind::kUsage,
       "{} devices asked, but {} {} GPU{}: ask for {} or fewer, or pass --oversubscribe to "
       "let devices share GPUs",
       options.devices, options.gpus.empty() ? "CUDA shows" : "--gpus names", gpus, plural(gpus),
       gpus);
}

namespace {

std::string version_text(int version) {  // 12040 is 12.4
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

CudaProbe too_old(int driver) {
  int runtime = 0;
  static_cast<void>(cudaRuntimeGetVersion(&runtime));
  return {CudaState::kDriverTooOld,
          fmt::format("the driver supports CUDA {}, this build needs {}: update the driver, or "
                      "build with an older toolkit",
                      version_text(driver), version_text(runtime))};
}

cudaComputeMode compute_mode(int gpu) {
  int mode = cudaComputeModeDefault;
  if (cudaDeviceGetAttribute(&mode, cudaDevAttrComputeMode, gpu) != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
  }
  return static_cast<cudaComputeMode>(mode);
}

CudaProbe none_visible() {
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  if (visible != nullptr) {
    return {CudaState::kNoDeviceVisible,
            fmt::format("CUDA shows no device while CUDA_VISIBLE_DEVICES is '{}'", visible)};
  }
  return {CudaState::kNoDeviceVisible,
          "CUDA shows no device: in a container, start it with its GPUs passed through"};
}

// The mode that lets no process in, or no other one, with its remedy.
CudaProbe busy(int gpu) {
  const std::string address = pci_address_of(identity_of(gpu));
  const std::string reset = fmt::format("let root set its mode (nvidia-smi -i {} -c 0)", address);
  switch (compute_mode(gpu)) {
    case cudaComputeModeProhibited:
      return {CudaState::kBusy,
              fmt::format("GPU {} ({}) is in prohibited mode, in which no process may compute on "
                          "it: {}, or name others with --gpus",
                          gpu, address, reset)};
    case cudaComputeModeExclusive:
    case cudaComputeModeExclusiveProcess:
      return {CudaState::kBusy,
              fmt::format("GPU {} ({}) is in exclusive-process mode, and another process is on "
                          "it: give each rank a GPU of its own, end what else computes there, or "
                          "{}",
                          gpu, address, reset)};
    case cudaComputeModeDefault:
      break;
  }
  return {CudaState::kBusy,
          fmt::format("GPU {} ({}) is busy: CUDA makes no context on it; see what computes there "
                      "(nvidia-smi)",
                      gpu, address)};
}

// CUDA compiles code for newer GPUs from what the module has of the newest one that it is built
// for, if the driver is as new as the toolkit. For older GPUs there is nothing to compile.
CudaProbe without_code(int gpu, cudaError_t status) {
  cudaDeviceProp properties{};
  TANDEM_CUDA(gpu, cudaGetDeviceProperties(&properties, gpu));
  const bool is_volta_or_older = properties.major * 10 + properties.minor < 75;
  return {
      CudaState::kNoCode,
      fmt::format("this build has no kernels for GPU {} ({}, compute capability {}.{}), only "
                  "for {} ({}): build it with -DTANDEM_CUDA_ARCHITECTURES={}{}{}",
                  gpu, properties.name, properties.major, properties.minor,
                  TANDEM_CUDA_ARCHITECTURES, cudaGetErrorName(status), properties.major,
                  properties.minor, is_volta_or_older ? ", by CUDA 12, the last that can" : "")};
}

// Asks about one kernel: the others are built for the same GPUs.
cudaError_t look_for_code(int gpu) {
  if (own_kernels().empty()) return cudaSuccess;
  const DeviceGuard here(gpu);
  cudaFuncAttributes attributes{};
  return cudaFuncGetAttributes(&attributes, own_kernels().front());
}

CudaProbe from_status(cudaError_t status, const char* call, int gpu, int driver) {
  static_cast<void>(cudaGetLastError());
  switch (status) {
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorInvalidDeviceFunction:
    case cudaErrorUnsupportedPtxVersion:
      return without_code(gpu, status);
    case cudaErrorInsufficientDriver:
      return too_old(driver);
    case cudaErrorNoDevice:
      return none_visible();
    case cudaErrorDevicesUnavailable:
      return busy(gpu);
    case cudaErrorNotPermitted:
    case cudaErrorOperatingSystem:
      return {CudaState::kNotPermitted,
              fmt::format("the operating system denies it: {}", describe(status, call, gpu))};
    default:
      return {CudaState::kOtherTrouble, describe(status, call, gpu)};
  }
}

}  // namespace

CudaProbe probe(const PlatformOptions& options) {
  int driver = 0;
  static_cast<void>(cudaDriverGetVersion(&driver));
  if (driver == 0) {
    return {CudaState::kDriverMissing,
            "no NVIDIA driver library (libcuda.so.1) is to be found: install the driver, or in a "
            "container start it with its GPUs passed through"};
  }
  int gpus = 0;
  if (const cudaError_t status = cudaGetDeviceCount(&gpus); status != cudaSuccess) {
    return from_status(status, "cudaGetDeviceCount", 0, driver);
  }
  if (gpus == 0) return none_visible();
  // An exclusive GPU shows itself only when a context is made.
  CudaProbe usable{CudaState::kUsable, ""};
  for (const int gpu : gpus_to_open(options, gpus)) {
    if (compute_mode(gpu) == cudaComputeModeProhibited) return busy(gpu);
    const cudaError_t status = init_device(gpu, options.gpu_wait);
    if (status != cudaSuccess) return from_status(status, "cudaInitDevice", gpu, driver);
    if (const cudaError_t found = look_for_code(gpu); found != cudaSuccess) {
      return from_status(found, "cudaFuncGetAttributes", gpu, driver);
    }
    usable.gpus.push_back(identity_of(gpu));
  }
  return usable;
}

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

// Without peer access CUDA takes copies between GPUs through the host's memory.
std::vector<std::unique_ptr<Gpu>> open_gpus(const std::vector<int>& ordinals,
                                            const PlatformOptions& options) {
  std::vector<std::unique_ptr<Gpu>> gpus;
  for (const int ordinal : ordinals) {
    gpus.push_back(std::make_unique<Gpu>(ordinal, options.gpu_wait));
  }
  if (options.peer_access == PeerAccess::kOff) return gpus;
  for (const int from : ordinals) {
    for (const int to : ordinals) {
      if (from != to) enable_peer_access(from, to);
    }
  }
  return gpus;
}

// The capacity of the own device, whose GPU other processes may share.
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

// The memory that each logical device may use: as asked, else an even share of what its GPU has
// free. Device i is on GPU i modulo their number.
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

// The near host of the device with this number among the process's own devices.
NearHost near_host(const PlatformOptions& options, int number) {
  return options.near_hosts.empty() ? NearHost{}
                                    : options.near_hosts.at(static_cast<std::size_t>(number));
}

class CudaPlatform final : public Platform {
 public:
  CudaPlatform(const PlatformOptions& options, const std::vector<int>& ordinals)
      : has_own_device_(options.own_device.has_value()),
        processes_on_gpu_(options.processes_on_gpu),
        map_(open_gpus(ordinals, options), options.devices, options.own_device) {
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
  check_device_memory(options);
  const int visible = count_gpus();
  check_gpus(options, visible);
  return std::make_unique<CudaPlatform>(options, gpus_to_open(options, visible));
}

}  // namespace tandem::cuda
