// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "common/parallel/replica.h"

namespace tandem::dp {

// Where outputs are gathered and the loss is computed: the device of one of the replicas, on whose
// stream it then works, or one of its own that holds nothing else.
class OutputDevice {
 public:
  OutputDevice(Device& device, const std::vector<Replica*>& replicas, const PhaseOptions& phases);

  [[nodiscard]] Device& device() { return device_; }
  [[nodiscard]] Stream& stream() { return replica_ ? replica_->stream() : *own_->stream; }
  [[nodiscard]] Operations& operations() {
    return replica_ ? replica_->operations() : *own_->operations;
  }
  [[nodiscard]] PhaseTimer& timer() { return replica_ ? replica_->timer() : own_->timer; }

  // Its books, where they are not a replica's.
  [[nodiscard]] bool is_apart() const { return replica_ == nullptr; }

  void begin(Phase phase) { timer().begin(stream(), phase); }

 private:
  struct Own {
    Own(Device& device, const PhaseOptions& phases);

    std::unique_ptr<Operations> operations;
    PhaseTimer timer;
    std::unique_ptr<Stream> stream;  // last: ends its work before what it works with goes
  };

  Device& device_;
  Replica* replica_ = nullptr;  // whose device this is, if any
  std::optional<Own> own_;
};

}  // namespace tandem::dp
