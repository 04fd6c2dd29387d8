// SPDX-License-Identifier: Apache-2.0
//
// The checks and accesses of operations on images; operands.h has the rules.
#pragma once

#include <vector>

#include "common/kernels/image_operations.h"
#include "common/runtime/stream.h"

namespace tandem {

void check_sizes(const ConvolutionForward& op);
void check_sizes(const ConvolutionBackwardInput& op);
void check_sizes(const ConvolutionBackwardWeight& op);
void check_sizes(const BatchNormForward& op);
void check_sizes(const BatchNormBackward& op);
void check_sizes(const MaxPoolForward& op);
void check_sizes(const MaxPoolBackward& op);
void check_sizes(const AveragePoolForward& op);
void check_sizes(const AveragePoolBackward& op);

[[nodiscard]] std::vector<Access> accesses(const ConvolutionForward& op);
[[nodiscard]] std::vector<Access> accesses(const ConvolutionBackwardInput& op);
[[nodiscard]] std::vector<Access> accesses(const ConvolutionBackwardWeight& op);
[[nodiscard]] std::vector<Access> accesses(const BatchNormForward& op);
[[nodiscard]] std::vector<Access> accesses(const BatchNormBackward& op);
[[nodiscard]] std::vector<Access> accesses(const MaxPoolForward& op);
[[nodiscard]] std::vector<Access> accesses(const MaxPoolBackward& op);
[[nodiscard]] std::vector<Access> accesses(const AveragePoolForward& op);
[[nodiscard]] std::vector<Access> accesses(const AveragePoolBackward& op);

}  // namespace tandem
