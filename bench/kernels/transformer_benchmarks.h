// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/kernels/operation_registry.h"

namespace tandem::bench {

// Registers embeddings, layer normalisation, attention and cross-entropy.
void register_transformer_operations(const OperationRegistry& registry);

}  // namespace tandem::bench
