// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "common/comm/bootstrap.h"
#include "common/comm/communicator.h"
#include "common/comm/node_layout.h"

namespace tandem {

// The hierarchical communicator of ranks that are processes: shared memory within a node, MPI
// between nodes. Collective; `world` and `device`, which is this rank's host device, outlive the
// communicator.
[[nodiscard]] std::unique_ptr<Communicator> make_communicator_of_nodes(
    Bootstrap& world, const NodeLayout& nodes, Device& device,
    const CommunicatorOptions& options = {});

}  // namespace tandem
