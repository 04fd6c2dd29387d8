// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/runtime/cuda/device_map.h"
#include "common/runtime/device.h"
#include "common/runtime/host/cores.h"
#include "common/runtime/memory_account.h"
#include "common/runtime/platform.h"

namespace tandem::cuda {

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
