// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "common/base/error.h"
#include "common/runtime/cuda/gpu.h"
#include "common/runtime/device.h"
#include "common/runtime/host/cores.h"
#include "common/runtime/memory_account.h"
#include "common/runtime/platform.h"
#include "common/runtime/span.h"

namespace tandem::cuda {

// The GPU of each logical device: device i on GPU i % n; or the own device on the only GPU,
// where all others are other processes'. Immutable.
class DeviceMap {
 public:
  DeviceMap(std::vector<std::unique_ptr<Gpu>> gpus, int devices, std::optional<int> own)
      : gpus_(std::move(gpus)), devices_(devices), own_(own) {}

  [[nodiscard]] int devices() const { return devices_; }
  [[nodiscard]] int gpus() const { return static_cast<int>(gpus_.size()); }
  [[nodiscard]] bool has(int device) const {
    return device >= 0 && device < devices_ && (!own_ || device == *own_);
  }

  [[nodiscard]] Gpu& gpu_of(DeviceId device) const {
    TANDEM_CHECK(device.backend == Backend::kCuda && has(device.index),
                 "{} is no device of this process, which has {} of CUDA", to_string(device),
                 own_ ? 1 : devices_);
    return *gpus_[own_ ? 0 : static_cast<std::size_t>(device.index) % gpus_.size()];
  }

 private:
  std::vector<std::unique_ptr<Gpu>> gpus_;
  int devices_;
  std::optional<int> own_;
};

// A logical device: a GPU, or with oversubscription a share of one. `near` says where its threads
// and its pinned memory belong.
class CudaDevice final : public Device {
 public:
  CudaDevice(const DeviceMap& map, DeviceId id, Bytes capacity, const NearHost& near);

  [[nodiscard]] DeviceId id() const override { return id_; }
  [[nodiscard]] std::string name() const override;
  [[nodiscard]] std::string hardware() const override { return gpu_.hardware(); }
  [[nodiscard]] int multiprocessor_count() const override { return gpu_.multiprocessor_count(); }
  [[nodiscard]] std::unique_ptr<Buffer> allocate(Bytes size) override;
  [[nodiscard]] MemoryUse memory() const override { return account_.use(); }
  [[nodiscard]] std::unique_ptr<Buffer> allocate_host(Bytes size) override;
  [[nodiscard]] std::unique_ptr<Stream> make_stream(StreamPriority priority) override;
  [[nodiscard]] std::unique_ptr<Event> make_event() override;
  [[nodiscard]] std::unique_ptr<TimedEvent> make_timed_event() override;
  void bind_this_thread() override;

  [[nodiscard]] Gpu& gpu() const { return gpu_; }
  [[nodiscard]] MemoryAccount& account() { return account_; }  // of all that lies on it

 private:
  const DeviceMap& map_;
  const DeviceId id_;
  Gpu& gpu_;
  MemoryAccount account_;
  const std::vector<int> near_cpus_;                           // none: not bound
  const std::unique_ptr<const host::MemoryNode> near_memory_;  // absent: where it comes
};

// The CUDA device behind a device; a logic error where it is another back end's.
[[nodiscard]] CudaDevice& cuda_device(Device& device);

}  // namespace tandem::cuda
