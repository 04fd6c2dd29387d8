// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nccl.h>

#include <string>

#include "common/base/error.h"

namespace tandem::nccl {

// The functions of NCCL that Tandem calls, as found in the library at run time; a test puts its own
// in their place. Those of memory are null where the library is older than they are (2.19).
struct Api {
  decltype(&::ncclGetVersion) get_version = nullptr;
  decltype(&::ncclGetUniqueId) get_unique_id = nullptr;
  decltype(&::ncclGetErrorString) get_error_string = nullptr;
  decltype(&::ncclGetLastError) get_last_error = nullptr;
  decltype(&::ncclCommInitRank) comm_init_rank = nullptr;
  decltype(&::ncclCommFinalize) comm_finalize = nullptr;
  decltype(&::ncclCommDestroy) comm_destroy = nullptr;
  decltype(&::ncclCommAbort) comm_abort = nullptr;
  decltype(&::ncclCommGetAsyncError) comm_get_async_error = nullptr;
  decltype(&::ncclGroupStart) group_start = nullptr;
  decltype(&::ncclGroupEnd) group_end = nullptr;
  decltype(&::ncclAllReduce) all_reduce = nullptr;
  decltype(&::ncclBroadcast) broadcast = nullptr;
  decltype(&::ncclReduce) reduce = nullptr;
  decltype(&::ncclAllGather) all_gather = nullptr;
  decltype(&::ncclReduceScatter) reduce_scatter = nullptr;
  decltype(&::ncclSend) send = nullptr;
  decltype(&::ncclRecv) recv = nullptr;
  decltype(&::ncclMemAlloc) mem_alloc = nullptr;
  decltype(&::ncclMemFree) mem_free = nullptr;
  decltype(&::ncclCommRegister) comm_register = nullptr;
  decltype(&::ncclCommDeregister) comm_deregister = nullptr;

  [[nodiscard]] bool has_memory() const {
    return mem_alloc != nullptr && mem_free != nullptr && comm_register != nullptr &&
           comm_deregister != nullptr;
  }
};

// The library of this process, loaded at the first call and never unloaded.
struct LoadedApi {
  const Api* api = nullptr;  // absent where it could not be loaded
  std::string trouble;       // the reason, where absent
  std::string version;       // "2.28.9"
};
[[nodiscard]] const LoadedApi& load_api();

// The same from a file of this name; nothing is kept but the library itself.
[[nodiscard]] LoadedApi load_api_from(const char* file, Api& api);

// What a result means for who called: a lost peer, a bug here, or a failure of NCCL's.
[[nodiscard]] ErrorKind kind_of(ncclResult_t result);

// "ncclAllReduce: unhandled cuda error (ncclUnhandledCudaError): <its last words>", and what to do.
[[nodiscard]] Error error_of(const Api& api, ncclResult_t result, const char* function);

// Throws for all but ncclSuccess.
void check(const Api& api, ncclResult_t result, const char* function);

}  // namespace tandem::nccl
