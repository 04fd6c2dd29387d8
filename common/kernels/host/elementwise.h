// SPDX-License-Identifier: Apache-2.0
//
// The operations that need no library, as vectorised loops that run at memory speed. Run by the
// caller at once; thread-safe on disjoint operands. Products and sums are rounded one by one (no
// fused multiply-add), so that the result does not depend on the vector width of the machine.
#pragma once

#include "common/kernels/operations.h"

namespace tandem::host {

void run(const ReluBackward& op);
void run(const GeluBackward& op);
void run(const MseLoss& op);
void run(const MseLossBackward& op);
void run(const WeightedSum& op);
void run(const SgdUpdate& op);
void run(const AdamUpdate& op);
void run(const FillRandom& op);
void run(const Fill& op);
void run(const Scale& op);
void run(const Add& op);
void run(const AddScalar& op);
void run(const Subtract& op);
void run(const Convert& op);

// y = GELU of `before` (basic_operations.h), of the same type and size.
void gelu(ConstAnySpan before, AnySpan y);

}  // namespace tandem::host
