// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "common/comm/communicator.h"
#include "common/comm/nccl/nccl_api.h"

namespace tandem::nccl {

// Calls of one thread on several communicators, all NcclCommunicators, as one group of NCCL's:
// without it the first would wait for the second, which the same thread has yet to make. Where
// `calls` throws, the group is ended all the same.
void call_together(const Api& api, const std::vector<Communicator*>& ranks,
                   const std::function<void()>& calls);

}  // namespace tandem::nccl
