// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "common/comm/device_team.h"
#include "common/parallel/interpreters.h"
#include "common/parallel/replica.h"
#include "dp/broadcast.h"
#include "dp/options.h"

namespace tandem::dp {

// torch's replicate, at every step: the module's weights and buffers to every replica, and its
// plain attributes copied. The first replica's weights and buffers ARE the module's; whatever else
// forward changes in a replica is lost with it.
class Replicate {
 public:
  // The first replica is on the root. All outlive this.
  // The orders in `options` are resolved; `team` is absent where none of them is collective.
  Replicate(const std::vector<Replica*>& replicas, const Model& model,
            const DataParallelOptions& options, DeviceTeam* team);

  // Enqueues. Dispatches a call per module, parameter and buffer of every replica, as their clones
  // are built in Python.
  void enqueue(const ModuleState& module, Interpreter& caller);

 private:
  const std::vector<Replica*> replicas_;
  const int calls_per_replica_;
  const std::unique_ptr<Broadcast> parameters_;
  std::unique_ptr<Broadcast> buffers_;  // where the model has any; apart from the parameters
};

}  // namespace tandem::dp
