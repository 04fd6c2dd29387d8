// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "common/data/synthetic_batch.h"
#include "common/model/model.h"
#include "common/parallel/chunk_rule.h"

namespace tandem {

// The samples of `piece` as the model wants them, inputs and targets. `input_lengths` as in
// BatchShape.
[[nodiscard]] BatchShape batch_shape(const Model& model, Piece piece,
                                     std::vector<std::int64_t> input_lengths = {});

}  // namespace tandem
