// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/base/error.h"
#include "common/comm/nccl/nccl_api.h"

namespace tandem::nccl {

// What a result means for who called: a lost peer, a bug here, or a failure of NCCL's.
[[nodiscard]] ErrorKind kind_of(ncclResult_t result);

// "ncclAllReduce: unhandled cuda error (ncclUnhandledCudaError): <its last words>", and what to do.
[[nodiscard]] Error error_of(const Api& api, ncclResult_t result, const char* function);

// True for ncclSuccess and ncclInProgress.
[[nodiscard]] constexpr bool is_fine(ncclResult_t result) {
  return result == ncclSuccess || result == ncclInProgress;
}

// Throws where it is not.
void check(const Api& api, ncclResult_t result, const char* function);

}  // namespace tandem::nccl
