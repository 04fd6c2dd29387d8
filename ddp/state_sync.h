// SPDX-License-Identifier: Apache-2.0
//
// What torch's DistributedDataParallel does once, at construction, and after uneven inputs.
#pragma once

#include "common/comm/communicator.h"
#include "common/parallel/replica.h"

namespace tandem::ddp {

// torch's bucket for parameters and buffers, apart from that of gradients.
constexpr Bytes kStateBucket = mib(250);

// A usage error on all ranks where they do not hold the same parameters: their number, then each
// one's shape, named by its index. Collective.
void verify_same_parameters(Communicator& communicator, const ParameterLayout& layout);

// Enqueues on the replica's stream: every rank ends with root's parameters and buffers. Collective.
void broadcast_state(Communicator& communicator, Replica& replica, int root);

}  // namespace tandem::ddp
