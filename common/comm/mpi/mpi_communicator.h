// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "common/comm/bootstrap.h"
#include "common/comm/communicator.h"

namespace tandem {

// The most bytes that one call of MPI moves or reduces. Open MPI allocates and frees temporary
// memory of a call's size, so a large call would mostly spend its time in page faults.
constexpr Bytes kMpiChunk = mib(1);

// Ranks as processes of one MPI job, on one node or several; a usage error where ranks are threads.
// The stream's worker makes MPI's calls, which block and wait by spinning. MPI treats all memory
// alike, so allocate() returns the host device's own memory. A sum of 16-bit numbers is rounded at
// each addition of two numbers; an average is rounded once more after the sum is scaled.
//
// Scatter and gather are messages from and to the root, one rank after the other. A message waits
// for its receiver, so two ranks that both send to each other before they receive wait for ever.
//
// MPI's calls cannot be interrupted. A rank that waits longer than the deadline in a call writes a
// line to standard error and ends the job. An aborted rank does the same after some seconds, unless
// its program has ended by then. Where ranks enqueue different collectives, MPI reports an error
// where it sees that sizes differ, and a rank that waits fails at the deadline; only
// OrderCheck::kAlways finds every difference, such as unlike reductions of one size.
//
// Collective; needs a live MpiSession. The session, `bootstrap` and `device` outlive the
// communicator. The bootstrap's ranks may be a part of the job's.
[[nodiscard]] std::unique_ptr<Communicator> make_mpi_communicator(
    Bootstrap& bootstrap, Device& device, const CommunicatorOptions& options = {});

}  // namespace tandem
