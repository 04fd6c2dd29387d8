// SPDX-License-Identifier: Apache-2.0
//
// Groups of collectives, per thread. A collective is logged where it is called; its values are put
// down at the end of the outermost group, when all ranks that the thread drives have called.
#pragma once

#include <memory>

#include "pretend/nccl/communicator.h"

namespace tandem::pretend {

[[nodiscard]] bool is_in_group();
int start_group();
int end_group();

[[nodiscard]] Collective make_collective(CollectiveKind kind, const void* send, void* receive,
                                         uint64_t count, int nccl_type, int operation, int root);

int submit(const char* call, const std::shared_ptr<RankCommunicator>& communicator,
           const Collective& collective, const void* stream);

}  // namespace tandem::pretend
