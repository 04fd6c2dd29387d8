// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "common/data/synthetic_batch.h"
#include "common/model/model.h"
#include "common/parallel/chunk_rule.h"

namespace tandem {

// The shape of the samples of `piece`, inputs and targets, as the model wants samples.
// `input_lengths` as in BatchShape.
[[nodiscard]] BatchShape batch_shape(const Model& model, Piece piece,
                                     std::vector<std::int64_t> input_lengths = {});

}  // namespace tandem
