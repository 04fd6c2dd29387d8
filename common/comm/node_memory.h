// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "common/comm/bootstrap.h"
#include "common/runtime/host/host_memory.h"

namespace tandem {

// One zero-filled mapping that all ranks of the node see. Collective. Threads share the same
// mapping (one address, which ThreadSanitizer needs); each process has a mapping onto the same
// pages. Before any rank touches the mapping, each rank reserves the pages that it uses, and all
// ranks agree that every reservation succeeded.
[[nodiscard]] std::shared_ptr<host::SharedMapping> map_node_memory(Bootstrap& bootstrap,
                                                                   Bytes size);

}  // namespace tandem
