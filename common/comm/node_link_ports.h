// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "common/comm/bootstrap.h"
#include "common/runtime/link_model.h"

namespace tandem {

// The ports of a modelled link in memory that all ranks of the node see, for
// PlatformOptions::link_ports where each rank opens its own platform. Collective.
[[nodiscard]] std::shared_ptr<LinkPorts> make_node_link_ports(Bootstrap& bootstrap);

}  // namespace tandem
