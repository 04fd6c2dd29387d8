// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "common/parallel/device_threads.h"
#include "dp/options.h"

namespace tandem::dp {

// torch's parallel_apply: every replica at the same time, each on a thread of its own, the caller's
// own replica too; a single replica runs on the caller's thread.
class ParallelApply {
 public:
  // A device per replica.
  ParallelApply(const std::vector<Device*>& devices, Threads threads);

  // Runs body(replica) for all and joins them. Then throws the failure of the lowest replica, not
  // of the first in time, and says which replica on which device; the others' are dropped.
  void run(const std::function<void(int)>& body);

  [[nodiscard]] bool uses_threads() const { return devices_.size() > 1; }

 private:
  const std::vector<Device*> devices_;
  std::unique_ptr<DeviceThreads> kept_;  // null: new ones in every step
};

}  // namespace tandem::dp
