// SPDX-License-Identifier: Apache-2.0
//
// Parameters and gradients as the host sees them, for comparing what trainings came to.
#pragma once

#include <vector>

#include "common/model/parameter_layout.h"
#include "common/runtime/platform.h"

namespace tandem {

using TensorValues = std::vector<std::vector<float>>;  // per tensor

// Wherever they lie on `platform`; synchronise the streams that write them first.
[[nodiscard]] std::vector<float> values_of(Platform& platform, Span<const float> tensor);
[[nodiscard]] TensorValues values_of(Platform& platform, const TensorList& tensors);

// Largest |reference - other| over largest |reference| of the same tensor, of the worst tensor: a
// first layer's gradients are small, and would pass any comparison with the last one's. Infinite
// where `other` holds a value that is not finite. Throws a logic error where sizes differ.
[[nodiscard]] double relative_difference(const TensorValues& reference, const TensorValues& other);

}  // namespace tandem
