// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <mutex>

#include "common/base/error.h"
#include "common/base/units.h"
#include "common/comm/communicator.h"
#include "common/comm/nccl/nccl_api.h"
#include "common/comm/rank_exit.h"
#include "common/comm/watchdog.h"

namespace tandem::nccl {

// One rank's communicator of NCCL's. Its calls block, as torch's do: a call returns once its work
// is on its streams. NCCL 2.23 and newer make and join a thread for every call of a communicator
// that does not block (src/group.cc).
//
// NCCL wants no thread inside a communicator while another uses or aborts it, so every call is made
// under a lock. A call that waits for a peer, such as the first ones, which connect the ranks,
// cannot be interrupted: past the deadline the process ends with a line that names it. What waits
// on a stream is aborted instead. Thread-safe.
class Handle {
 public:
  struct Rank {
    int rank = 0;
    int size = 1;
    int job_rank = 0;  // for messages
    int gpu = 0;       // ordinal
    Nanoseconds deadline{0};
    RankExit rank_exit{};
  };

  // Collective. `api` outlives it.
  Handle(const Api& api, const Rank& rank, const ncclUniqueId& id);
  ~Handle();  // aborts what was not closed
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  // This thread is inside NCCL with the communicator, in `call`: others are kept out, also who
  // aborts, and the deadline runs.
  class Inside {
   public:
    Inside(Handle& handle, const CollectiveCall& call)
        : lock_(handle.mutex_), watch_(handle.watchdog_.watch(call)) {}

   private:
    const std::lock_guard<std::mutex> lock_;
    const Watchdog::Watch watch_;
  };

  // Makes calls of NCCL's, which throw what is wrong; from inside, or on the way in and out.
  using Calls = std::function<void(ncclComm_t)>;
  void make(const Calls& calls);
  void run(const CollectiveCall& call, const Calls& calls);

  // What NCCL has found out since, without waiting: a call that is being made finds out for itself.
  // Throws once aborted.
  [[nodiscard]] ncclResult_t state();

  // Ends it in good order: all ranks of the node have to, each on a thread of its own. Nothing of
  // it may be in flight.
  void close();

  // Ends what is running on the GPU and all that waits. Where a call does not come back from NCCL,
  // or the abort itself does not, the process ends with `reason`.
  void abort(const Error& reason) noexcept;

  // Ends the process with `reason` after that time, unless this has gone by then.
  void expire(Nanoseconds patience, const Error& reason) noexcept {
    watchdog_.expire(patience, reason.what());
  }

 private:
  void throw_if_ended() const;

  const Api& api_;
  const Rank rank_;
  std::mutex mutex_;  // guards comm_ and whatever is done with it
  ncclComm_t comm_ = nullptr;
  Watchdog watchdog_;
};

}  // namespace tandem::nccl
