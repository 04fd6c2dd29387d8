// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "common/model/parameter_layout.h"
#include "common/runtime/platform.h"

namespace tandem {

// Parameters or gradients as the host sees them, for comparing the results of trainings: the values
// of each tensor.
using TensorValues = std::vector<std::vector<float>>;

// Copies tensors to the host from any device of `platform`; synchronise the streams that write the
// tensors first.
[[nodiscard]] std::vector<float> values_of(Platform& platform, Span<const float> tensor);
[[nodiscard]] TensorValues values_of(Platform& platform, const TensorList& tensors);

// The checksum of the bits of all values, in order (Fnv1a).
[[nodiscard]] std::uint64_t checksum(const TensorValues& tensors);

// Largest |reference - other| over largest |reference| of the same tensor, of the worst tensor: a
// first layer's gradients are small, and would pass any comparison with those of the last layer.
// Infinite where `other` holds a value that is not finite. Throws a logic error where sizes differ.
[[nodiscard]] double relative_difference(const TensorValues& reference, const TensorValues& other);

// |other - reference| / |reference| in the Euclidean norm, of the worst tensor. A few elements that
// differ much do not decide the distance. Where the reference is 0, |other|. Infinite and throws as
// above.
[[nodiscard]] double relative_distance(const TensorValues& reference, const TensorValues& other);

// The distance of the component of `other` along the reference from the reference, |<other,
// reference> / <reference, reference> - 1|, of the worst tensor: roundings point anywhere and
// cancel in this component, while a tensor that lacks some of its terms is shorter by these terms.
// At most relative_distance(); 0 where the reference is 0. Infinite and throws as above.
[[nodiscard]] double projection_error(const TensorValues& reference, const TensorValues& other);

}  // namespace tandem
