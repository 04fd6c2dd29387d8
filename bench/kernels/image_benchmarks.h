// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/kernels/operation_registry.h"

namespace tandem::bench {

// Registers the operations on images, with shapes of ResNet-50 at a batch of 4; registers none
// where the registry's back end lacks convolutions. The bare product of a convolution is that of
// forward, on columns that lie ready.
void register_image_operations(const OperationRegistry& registry);

}  // namespace tandem::bench
