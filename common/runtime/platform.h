// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/noncopyable.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/runtime/device.h"
#include "common/runtime/device_threads.h"

namespace tandem {

enum class BackendChoice { kAuto, kHost, kCuda, kSimulated };

// Debug options of the host back end, with which tests make mistakes in ordering show.
struct HostDebug {
  Nanoseconds largest_delay{0};  // queued work starts late by random times up to this
  std::uint64_t delay_seed = 0;  // seed of these random times

  // A mutant: device `device` leaves out its `number`-th wait (from 0, over all streams of the
  // device).
  struct LeftOutWait {
    int device = 0;
    int number = 0;
  };
  std::optional<LeftOutWait> left_out_wait{};
};

// Whether GPUs read and write each other's memory, or all traffic between GPUs goes through the
// host's memory.
enum class PeerAccess { kOn, kOff };

// How the host waits for a GPU: as CUDA does by default, which spins while the
// machine has a processor for each context of the process; or parked, which leaves the core to
// others and adds an interrupt's wake-up to each wait.
enum class GpuWait { kAuto, kPark };

// Whether threads and host memory of a device keep to the part of the machine near the device. Host
// devices are cores, and their threads are bound to these cores in any case.
enum class Binding { kNear, kNone };

// The CPUs and memory that are near a GPU.
struct NearHost {
  std::vector<int> cpus{};           // OS numbers of hardware threads; empty: threads are not bound
  std::optional<int> memory_node{};  // OS number of the preferred NUMA node; unset: no preference
};

struct PlatformOptions {
  int devices = 1;             // number of logical devices
  bool oversubscribe = false;  // allows more logical devices than cores or GPUs
  // CUDA: ordinals of the GPUs to use, in the order of devices; empty: all GPUs, as CUDA lists
  // them.
  std::vector<int> gpus{};
  // GPUs: the one of `devices` that this process works on, where the others belong to other
  // processes. No context is made on any other GPU. Unset: all devices are this process's.
  std::optional<int> own_device{};
  // CUDA: how many processes share the GPU of own_device, and its memory.
  int processes_on_gpu = 1;
  PeerAccess peer_access = PeerAccess::kOn;  // between the GPUs of this process
  GpuWait gpu_wait = GpuWait::kAuto;
  Binding binding = Binding::kNear;
  // CUDA: the near hosts of this process's devices, in device order; empty: nothing is bound.
  std::vector<NearHost> near_hosts{};
  // Capacities: one for every device, or one per device in order; empty: the memory left is shared
  // evenly.
  std::vector<Bytes> device_memory{};
  std::vector<int> cores{};  // host: OS numbers of the cores to use; empty: all allowed cores
  HostDebug debug{};
  std::string hardware{};  // simulated: the file that describes the machine
};

// The devices of one back end, in one process. Owns the devices; outlives all that they make.
class Platform : boost::noncopyable {
 public:
  virtual ~Platform() = default;

  [[nodiscard]] virtual Backend backend() const = 0;
  [[nodiscard]] virtual int device_count() const = 0;
  [[nodiscard]] virtual Device& device(int index) = 0;

  // Allocates host memory that devices copy from and to without staging (pinned on CUDA).
  [[nodiscard]] virtual std::unique_ptr<Buffer> allocate_host(Bytes size) = 0;

  // The time by which this platform's work is timed: the machine's clock, or a simulation's.
  [[nodiscard]] virtual TimePoint now() { return Clock::now(); }

  // Whether memory has contents. A simulation's memory is addresses alone, which nobody may touch.
  [[nodiscard]] virtual bool holds_data() const { return true; }

  // A host thread for each of these devices, which outlive the threads.
  [[nodiscard]] virtual std::unique_ptr<DeviceThreads> make_threads(
      const std::vector<Device*>& devices, ThreadLife life) {
    return start_device_threads(devices, life);
  }

  // True where logical devices share a core or a GPU; every result then carries the mark.
  [[nodiscard]] virtual bool oversubscribed() const = 0;
};

// Opens the back end. kAuto takes CUDA where an NVIDIA device is present, else host; a device that
// is present but unusable is an error that names the reason, never a silent fall-back.
[[nodiscard]] std::unique_ptr<Platform> make_platform(BackendChoice choice,
                                                      const PlatformOptions& options);

}  // namespace tandem
