// SPDX-License-Identifier: Apache-2.0
//
// The calls that torch's DistributedDataParallel makes at construction.
#pragma once

#include "common/comm/communicator.h"
#include "common/parallel/replica.h"

namespace tandem::ddp {

// torch's bucket size for parameters and buffers, apart from the size of gradient buckets.
constexpr Bytes kStateBucket = mib(250);

// Throws a usage error on all ranks where ranks do not hold the same parameters: the number of
// parameters is compared, then the shape of each parameter, which the error names by its index.
// Collective.
void verify_same_parameters(Communicator& communicator, const ParameterLayout& layout);

// Enqueues on the replica's stream a broadcast after which every rank has rank 0's parameters and
// buffers. Collective.
void broadcast_state(Communicator& communicator, Replica& replica);

}  // namespace tandem::ddp
