// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "common/comm/bootstrap.h"
#include "common/runtime/link_ports.h"

namespace tandem {

// Ports of a modelled link in memory that all ranks of the node see: what
// PlatformOptions::link_ports wants where each rank opens a platform of its own. Collective.
[[nodiscard]] std::shared_ptr<LinkPorts> make_node_link_ports(Bootstrap& bootstrap);

}  // namespace tandem
