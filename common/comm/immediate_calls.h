// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "common/comm/communicator.h"

namespace tandem {

// The reports of a communicator to its observer whose collectives have no moments of real time
// apart from the call, since no peer is waited for: each call is enqueued, started and finished at
// once. Not thread-safe.
class ImmediateCalls {
 public:
  explicit ImmediateCalls(CollectiveObserver* observer) : observer_(observer) {}  // null: nobody

  void note(const CollectiveRequest& request) {
    if (observer_ == nullptr) return;
    const CollectiveCall call{.sequence = ++told_, .name = request.name(), .size = request.size()};
    observer_->enqueued(call);
    observer_->started(call);
    observer_->finished(call);
  }

 private:
  CollectiveObserver* const observer_;
  std::uint64_t told_ = 0;  // of calls
};

}  // namespace tandem
