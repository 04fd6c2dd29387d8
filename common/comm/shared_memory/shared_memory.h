// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "common/comm/bootstrap.h"
#include "common/comm/communicator.h"

namespace tandem {

// Ranks of one node, threads or processes alike, on memory that all of them see. All-reduce: each
// rank reduces its 1/n straight from every rank's buffer and writes the result to every rank's
// buffer, so each element is read and written once per rank and nothing is staged. Memory that this
// communicator did not allocate is staged through a slab, a chunk at a time. Reductions add in rank
// order, in float, and round 16-bit numbers once. The memory passed to a collective comes from
// allocate() on all ranks or on none; the memory of a root may be either.
//
// Collective. `device` is this rank's host device. The bootstrap must outlive the communicator.
[[nodiscard]] std::unique_ptr<Communicator> make_shared_memory_communicator(
    Bootstrap& bootstrap, Device& device, const CommunicatorOptions& options = {});

}  // namespace tandem
