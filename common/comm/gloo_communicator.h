// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "common/comm/bootstrap.h"
#include "common/comm/communicator.h"

namespace tandem {

// Ranks as processes or threads, over the TCP of gloo, which is what PyTorch's CPU back end uses:
// on one node over its loopback, on several over the interface of the host's name. All-reduce is
// gloo's ring, in its own segments. What BlockingCommunicator says holds here; a reduce_scatter is
// an all-reduce of which each rank keeps its part, since gloo has none for any number of ranks.
//
// A peer that is later than the deadline is a communication error, and so is an aborted one. Ranks
// that enqueue different collectives find out at the deadline, or with OrderCheck::kAlways at once;
// without, gloo ends the process of a rank to which more is sent than it expects.
//
// Collective; `bootstrap` is used to connect and not kept, `device` outlives the communicator.
[[nodiscard]] std::unique_ptr<Communicator> make_gloo_communicator(
    Bootstrap& bootstrap, Device& device, const CommunicatorOptions& options = {});

}  // namespace tandem
