// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "common/comm/bootstrap.h"
#include "common/comm/communicator.h"

namespace tandem {

// Bytes that one call of MPI moves or reduces: Open MPI takes temporary memory of a call's size and
// gives it back, so that a large call is mostly page faults.
constexpr Bytes kMpiChunk = mib(1);

// Ranks as processes of one MPI job, on one node or several: a usage error where ranks are threads.
// What BlockingCommunicator says holds here. Waiting is MPI's: it spins.
//
// MPI's calls cannot be interrupted. A rank that waits longer than the deadline in one of them
// writes a line to standard error and ends the job; so does, after some seconds, a rank that was
// aborted, if its program has not ended by then. Ranks that enqueue different collectives find out
// by an error of MPI's where it sees that sizes differ, at the deadline where it waits, and always
// with OrderCheck::kAlways; same sizes and different reductions go unnoticed without.
//
// Collective; needs a live MpiSession, which like `bootstrap` and `device` outlives the
// communicator. The bootstrap's ranks may be a part of the job's.
[[nodiscard]] std::unique_ptr<Communicator> make_mpi_communicator(
    Bootstrap& bootstrap, Device& device, const CommunicatorOptions& options = {});

}  // namespace tandem
