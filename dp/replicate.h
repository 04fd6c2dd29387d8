// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "common/comm/device_team.h"
#include "common/parallel/device_threads.h"
#include "common/parallel/replica.h"
#include "dp/broadcast.h"
#include "dp/options.h"

namespace tandem::dp {

// torch's replicate, at every step: copies the module's weights, buffers and plain attributes to
// every replica. The first replica's weights and buffers ARE the module's; anything else that
// forward changes in a replica is lost with the replica.
class Replicate {
 public:
  // The first replica is on the root. The orders in `options` are resolved; `team` is absent where
  // no order is collective. All arguments outlive the object.
  Replicate(const std::vector<Replica*>& replicas, const Model& model,
            const DataParallelOptions& options, DeviceTeam* team);

  // Enqueues the copies. Dispatches a call per module, parameter and buffer of every replica, as
  // torch builds the clones of modules in Python.
  void enqueue(const ModuleState& module, Interpreter& caller);

 private:
  const std::vector<Replica*> replicas_;
  const int calls_per_replica_;
  const std::unique_ptr<Broadcast> parameters_;
  std::unique_ptr<Broadcast> buffers_;  // apart from the parameters; null: no buffers
};

}  // namespace tandem::dp
