// SPDX-License-Identifier: Apache-2.0
//
// Every operation on images in plain loops, under the rules of naive.h.
#pragma once

#include "common/kernels/image_operations.h"

namespace tandem {

void naive(const ConvolutionForward& op);
void naive(const ConvolutionBackwardInput& op);
void naive(const ConvolutionBackwardWeight& op);
void naive(const BatchNormForward& op);
void naive(const BatchNormBackward& op);
void naive(const MaxPoolForward& op);
void naive(const MaxPoolBackward& op);
void naive(const AveragePoolForward& op);
void naive(const AveragePoolBackward& op);

}  // namespace tandem
