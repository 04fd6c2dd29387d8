// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "common/runtime/buffer.h"

namespace tandem::host {

// The host's own memory, as beside its devices. Throws out-of-memory where less is left.
[[nodiscard]] std::unique_ptr<Buffer> allocate_host_memory(Bytes size);

}  // namespace tandem::host
