// SPDX-License-Identifier: Apache-2.0
//
// Normalisation and pooling of images as vectorised loops. Run by the caller at once; thread-safe
// on disjoint operands and scratch memory, whose size scratch_size() gives for each operation. Sums
// are taken in a fixed order, the same on every machine.
#pragma once

#include "common/kernels/image_operations.h"

namespace tandem::host {

[[nodiscard]] Bytes scratch_size(const BatchNormForward& op);
[[nodiscard]] Bytes scratch_size(const BatchNormBackward& op);
[[nodiscard]] Bytes scratch_size(const MaxPoolForward& op);
[[nodiscard]] Bytes scratch_size(const MaxPoolBackward& op);
[[nodiscard]] Bytes scratch_size(const AveragePoolForward& op);
[[nodiscard]] Bytes scratch_size(const AveragePoolBackward& op);

void run(const BatchNormForward& op, std::byte* scratch);
void run(const BatchNormBackward& op, std::byte* scratch);
void run(const MaxPoolForward& op, std::byte* scratch);
void run(const MaxPoolBackward& op, std::byte* scratch);
void run(const AveragePoolForward& op, std::byte* scratch);
void run(const AveragePoolBackward& op, std::byte* scratch);

}  // namespace tandem::host
