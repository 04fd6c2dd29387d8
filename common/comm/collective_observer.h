// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "common/base/units.h"

namespace tandem {

// One call of a communicator, as one rank makes it.
struct CollectiveCall {
  std::uint64_t sequence = 0;  // 1 for the first that this rank enqueued on this communicator
  const char* name = "";       // a literal: "all_reduce"
  Bytes size;                  // this rank's part; of all_gather and reduce_scatter all parts
};

// Is told of each collective's progress: enqueued on the caller's thread, started and finished on
// the stream's worker. A GPU's stream has no worker: there, a thread that polls every few
// milliseconds reports. A collective that fails or is dropped never finishes. The observer outlives
// the communicator. The observer's calls run within the step, so their cost is part of the step.
class CollectiveObserver {
 public:
  CollectiveObserver() = default;
  CollectiveObserver(const CollectiveObserver&) = delete;
  CollectiveObserver& operator=(const CollectiveObserver&) = delete;
  virtual ~CollectiveObserver() = default;

  virtual void enqueued(const CollectiveCall& call) noexcept = 0;
  virtual void started(const CollectiveCall& call) noexcept = 0;
  virtual void finished(const CollectiveCall& call) noexcept = 0;
};

}  // namespace tandem
