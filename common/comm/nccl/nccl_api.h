// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nccl.h>

#include <string>

#include "common/base/error.h"
#include "common/base/library.h"

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
  X(all_gather, ncclAllGather)                   \
  X(reduce_scatter, ncclReduceScatter)           \
  X(send, ncclSend)                              \
  X(recv, ncclRecv)

// Functions of memory, which libraries older than 2.19 lack.
#define TANDEM_EACH_NCCL_MEMORY_CALL(X) \
  X(mem_alloc, ncclMemAlloc)            \
  X(mem_free, ncclMemFree)              \
  X(comm_register, ncclCommRegister)    \
  X(comm_deregister, ncclCommDeregister)

// As found in the library at run time; a test puts its own in their place. Null where the library
// lacks them.
struct Api {
#define TANDEM_PLACE(place, name) decltype(&::name) place = nullptr;
  TANDEM_EACH_NCCL_CALL(TANDEM_PLACE)
  TANDEM_EACH_NCCL_MEMORY_CALL(TANDEM_PLACE)
#undef TANDEM_PLACE

  [[nodiscard]] bool has_memory() const {
    return mem_alloc != nullptr && mem_free != nullptr && comm_register != nullptr &&
           comm_deregister != nullptr;
  }
};

using LoadedApi = Loaded<Api>;

// The library of this process, loaded at the first call and never unloaded.
[[nodiscard]] const LoadedApi& load_api();

// The same from a file of this name; nothing is kept but the library itself.
[[nodiscard]] LoadedApi load_api_from(const char* file, Api& api);

// What a result means for who called: a lost peer, a bug here, or a failure of NCCL's.
[[nodiscard]] ErrorKind kind_of(ncclResult_t result);

// "ncclAllReduce: unhandled cuda error (ncclUnhandledCudaError): <its last words>", and what to do.
[[nodiscard]] Error error_of(const Api& api, ncclResult_t result, const char* function);

// Throws for all but ncclSuccess.
void check(const Api& api, ncclResult_t result, const char* function);

// Calls that are one to NCCL: nothing of them is launched before the end, and none waits for
// another. Ended on each path, since a group left open would swallow every later call of its
// thread. Of one thread; groups nest.
class Group {
 public:
  explicit Group(const Api& api) : api_(api) { check(api, api.group_start(), "ncclGroupStart"); }
  ~Group() {
    if (open_) static_cast<void>(api_.group_end());
  }
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  [[nodiscard]] ncclResult_t end() {
    open_ = false;
    return api_.group_end();
  }

 private:
  const Api& api_;
  bool open_ = true;
};

}  // namespace tandem::nccl
