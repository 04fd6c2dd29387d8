// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "common/parallel/replica.h"

namespace tandem::dp {

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

  // Whether the output device keeps books of its own, apart from those of any replica.
  [[nodiscard]] bool is_apart() const { return replica_ == nullptr; }

  void begin(Phase phase) { timer().begin(stream(), phase); }

 private:
  struct Own {
    Own(Device& device, const PhaseOptions& phases);

    std::unique_ptr<Operations> operations;
    PhaseTimer timer;
    std::unique_ptr<Stream> stream;  // last: the stream ends before the objects that it uses
  };

  Device& device_;
  Replica* replica_ = nullptr;  // the replica on this device, if any
  std::optional<Own> own_;
};

}  // namespace tandem::dp
