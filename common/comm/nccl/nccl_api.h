// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nccl.h>

#include <boost/noncopyable.hpp>
#include <functional>
#include <mutex>
#include <string>

#include "common/base/error.h"
#include "common/base/library.h"
#include "common/base/units.h"
#include "common/comm/communicator.h"
#include "common/comm/rank_exit.h"
#include "common/comm/watchdog.h"

namespace tandem::nccl {

// The functions of NCCL that Tandem calls: X(place, name).
#define TANDEM_EACH_NCCL_CALL(X)                 \
  X(get_version, ncclGetVersion)                 \
  X(get_unique_id, ncclGetUniqueId)              \
  X(get_error_string, ncclGetErrorString)        \
  X(get_last_error, ncclGetLastError)            \
  X(comm_init_rank, ncclCommInitRank)            \
  X(comm_finalize, ncclCommFinalize)             \
  X(comm_destroy, ncclCommDestroy)               \
  X(comm_abort, ncclCommAbort)                   \
  X(comm_get_async_error, ncclCommGetAsyncError) \
  X(group_start, ncclGroupStart)                 \
  X(group_end, ncclGroupEnd)                     \
  X(all_reduce, ncclAllReduce)                   \
  X(broadcast, ncclBroadcast)                    \
  X(reduce, ncclReduce)                          \
  X(send, ncclSend)                              \
  X(recv, ncclRecv)

// As found in the library at run time; a test puts its own in their place.
struct Api {
#define TANDEM_PLACE(place, name) decltype(&::name) place = nullptr;
  TANDEM_EACH_NCCL_CALL(TANDEM_PLACE)
#undef TANDEM_PLACE
};

using LoadedApi = Loaded<Api>;

// The library of this process, loaded at the first call and never unloaded.
[[nodiscard]] const LoadedApi& load_api();

// The same from a file of this name; nothing is kept but the library itself.
[[nodiscard]] LoadedApi load_api_from(const char* file, Api& api);

// The meaning of a result for its caller: a lost peer, a bug here, or a failure of NCCL's.
[[nodiscard]] ErrorKind kind_of(ncclResult_t result);

// "ncclAllReduce: unhandled cuda error (ncclUnhandledCudaError): <its last words>", and what to do.
[[nodiscard]] Error error_of(const Api& api, ncclResult_t result, const char* function);

// Throws for all but ncclSuccess.
void check(const Api& api, ncclResult_t result, const char* function);

// Calls that are one to NCCL: nothing of them is launched before the end, and none waits for
// another. Ended on each path, since a group left open would swallow every later call of its
// thread. Groups belong to a thread, and nest.
class Group : boost::noncopyable {
 public:
  explicit Group(const Api& api) : api_(api) { check(api, api.group_start(), "ncclGroupStart"); }
  ~Group() {
    if (open_) static_cast<void>(api_.group_end());
  }

  [[nodiscard]] ncclResult_t end() {
    open_ = false;
    return api_.group_end();
  }

 private:
  const Api& api_;
  bool open_ = true;
};

// One rank's communicator of NCCL's. Its calls block, as torch's do: a call returns once its work
// is on its streams. NCCL 2.23 and newer make and join a thread for every call of a communicator
// that does not block (src/group.cc).
//
// NCCL wants no thread inside a communicator while another uses or aborts it, so every call is made
// under a lock. A call that waits for a peer, such as the first ones, which connect the ranks,
// cannot be interrupted: past the deadline the process ends with a line that names it. What waits
// on a stream is aborted instead. Thread-safe.
class Handle : boost::noncopyable {
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

  // NCCL's newest result, without waiting: a call that is being made finds out for itself.
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
