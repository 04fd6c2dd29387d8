// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

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
  Replicate(const std::vector<Replica*>& replicas, const Model& model,
            const DataParallelOptions& options);

  // Enqueues. Dispatches a call per module, parameter and buffer of every replica, as their clones
  // are built in Python.
  void enqueue(const ModuleState& module, Interpreter& caller);

 private:
  const std::vector<Replica*> replicas_;
  const int calls_per_replica_;
  Broadcast parameters_;
  std::optional<Broadcast>
      buffers_;  // where the model has any; apart from the parameters, as in torch
};

}  // namespace tandem::dp
