// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/parallel/replica.h"
#include "common/runtime/platform.h"
#include "dp/options.h"

namespace tandem::dp {

// The devices that device_ids name, the root first. Throws usage errors for an id that the platform
// lacks, or that is named twice.
[[nodiscard]] std::vector<Device*> devices_named(Platform& platform,
                                                 const DataParallelOptions& options);

// The device that an option names by index; throws a usage error where there is none.
[[nodiscard]] Device& device_named(Platform& platform, int index, const char* option);

// The properties that decide whether devices go well together.
struct DeviceStrength {
  int index = 0;
  Bytes memory;
  int multiprocessors = 0;
};

// torch's warning at construction, where the weakest device has less than 75 % of the strongest
// device's memory, or else of its multiprocessors. Nothing is rebalanced.
[[nodiscard]] std::optional<std::string> imbalance_warning(
    const std::vector<DeviceStrength>& devices);

[[nodiscard]] std::vector<DeviceStrength> strengths_of(const std::vector<Device*>& devices);

// The device where outputs are gathered and the loss is computed: the device of one of the
// replicas, whose stream the output device then uses, or a device without a replica.
class OutputDevice {
 public:
  OutputDevice(Device& device, const std::vector<Replica*>& replicas, const PhaseOptions& phases);

  [[nodiscard]] Device& device() { return device_; }
  [[nodiscard]] Stream& stream() { return replica_ ? replica_->stream() : *own_->stream; }
  [[nodiscard]] Operations& operations() {
    return replica_ ? replica_->operations() : *own_->operations;
  }
  [[nodiscard]] PhaseTimer& timer() { return replica_ ? replica_->timer() : own_->timer; }

  // Whether the output device keeps a time account of its own, apart from those of any replica.
  [[nodiscard]] bool is_apart() const { return replica_ == nullptr; }

  void begin(Phase phase) { timer().begin(stream(), phase); }

 private:
  struct OwnResources {
    OwnResources(Device& device, const PhaseOptions& phases);

    std::unique_ptr<Operations> operations;
    PhaseTimer timer;
    std::unique_ptr<Stream> stream;  // last: the stream ends before the objects that it uses
  };

  Device& device_;
  Replica* replica_ = nullptr;  // the replica on this device, if any
  std::optional<OwnResources> own_;
};

}  // namespace tandem::dp
