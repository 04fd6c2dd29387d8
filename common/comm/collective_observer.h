// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "common/base/units.h"

namespace tandem {

// One call of a communicator, as its rank makes it.
struct CollectiveCall {
  std::uint64_t sequence = 0;  // 1 for the first that this rank enqueued on this communicator
  const char* name = "";       // a literal: "all_reduce"
  Bytes size;                  // of this rank's part; all_gather, reduce_scatter: of all parts
};

// Is told what becomes of each collective, on the thread where it happens: enqueued on the
// caller's, started and finished on the stream's worker; of a GPU's, which has none, on a thread
// that looks every few milliseconds. A collective that fails or is dropped never finishes. Outlives
// the communicator; its calls cost what the observer makes them cost, in the step.
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
