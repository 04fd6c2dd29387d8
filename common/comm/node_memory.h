// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "common/comm/bootstrap.h"
#include "common/runtime/host/shared_mapping.h"

namespace tandem {

// One mapping that all ranks of the node see, zero-filled. Collective. Threads get the very same
// mapping (one address, which ThreadSanitizer needs), processes one each onto the same pages.
// Before any touch, ranks reserve what they use of it, and agree that all could.
[[nodiscard]] std::shared_ptr<host::SharedMapping> map_node_memory(Bootstrap& bootstrap,
                                                                   Bytes size);

}  // namespace tandem
