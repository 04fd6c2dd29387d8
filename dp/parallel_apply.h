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
  // `devices` has a device per replica.
  ParallelApply(const std::vector<Device*>& devices, Threads threads);

  // Runs body(replica) for all replicas and joins the threads. Then throws the failure of the
  // lowest replica, not of the first in time, and says which replica on which device; the failures
  // of other replicas are dropped.
  void run(const std::function<void(int)>& body);

  [[nodiscard]] bool uses_threads() const { return devices_.size() > 1; }

 private:
  const std::vector<Device*> devices_;
  std::unique_ptr<DeviceThreads> kept_;  // null: new threads in every step
};

}  // namespace tandem::dp
