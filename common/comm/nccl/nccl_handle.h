// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <mutex>

#include "common/base/units.h"
#include "common/comm/communicator.h"
#include "common/comm/nccl/nccl_api.h"
#include "common/comm/node_memory.h"

namespace tandem::nccl {

// One rank's communicator of NCCL's, non-blocking: no call waits inside NCCL for a peer, so each
// can be given a deadline and ended. What is in progress is asked for, parked, until it is done.
//
// NCCL wants a communicator used by one thread at a time, above all by none but the one that aborts
// it: every call is made under a lock that is never held while waiting. Thread-safe.
class Handle {
 public:
  struct Rank {
    int rank = 0;
    int size = 1;
    int job_rank = 0;  // for messages
    int gpu = 0;       // ordinal
    Nanoseconds deadline{0};
  };

  // Collective. Throws where a peer does not come by the deadline, or `peers` say that one gave up.
  // `api` and `peers` outlive it.
  Handle(const Api& api, const Rank& rank, const ncclUniqueId& id, const AbortFlag& peers);
  ~Handle();  // aborts what was not closed
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  // Calls of NCCL's that throw what is wrong. Returns once all are on their streams: until then,
  // nothing may be enqueued behind them. `call` is what a message names.
  using Calls = std::function<void(ncclComm_t)>;
  void run(const CollectiveCall& call, const Calls& calls);

  // The two halves, for who makes calls on several communicators before it waits for any.
  void launch(const Calls& calls);
  void settle(const CollectiveCall& call);

  // Keeps other threads out, for as long as a group of several communicators' calls is open: what
  // ends the group goes into all of them.
  [[nodiscard]] std::unique_lock<std::recursive_mutex> hold() { return std::unique_lock(mutex_); }

  // What NCCL has found out since, without waiting. Throws once aborted.
  [[nodiscard]] ncclResult_t state();

  // Ends it in good order: all ranks of the node have to, each on a thread of its own. Nothing of
  // it may be in flight. Throws where a peer does not come.
  void close();

  // Ends what is running on the GPU and all that waits. Where NCCL does not come back from that,
  // the process ends with a line that says so.
  void abort() noexcept;

 private:
  void throw_if_ended() const;

  const Api& api_;
  const Rank rank_;
  const AbortFlag& peers_;
  std::recursive_mutex mutex_;  // guards comm_ and whatever is done with it
  ncclComm_t comm_ = nullptr;
};

}  // namespace tandem::nccl
