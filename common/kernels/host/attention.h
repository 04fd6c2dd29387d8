// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/kernels/operations.h"

namespace tandem::host {

// Run by the caller at once, with scratch memory of scratch_size(); thread-safe on disjoint
// operands and scratch memory. A failure in oneDNN is an error of kind failure.
[[nodiscard]] Bytes scratch_size(const AttentionForward& op);
[[nodiscard]] Bytes scratch_size(const AttentionBackward& op);
void run(const AttentionForward& op, std::byte* scratch);
void run(const AttentionBackward& op, std::byte* scratch);

}  // namespace tandem::host
