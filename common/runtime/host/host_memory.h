// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "common/runtime/buffer.h"

namespace tandem::host {

// Allocates memory of the host itself, beside its devices. Throws an out-of-memory error where less
// is left.
[[nodiscard]] std::unique_ptr<Buffer> allocate_host_memory(Bytes size);

}  // namespace tandem::host
