// SPDX-License-Identifier: Apache-2.0
#include "common/parallel/batch_shape.h"

#include <utility>

namespace tandem {

BatchShape batch_shape(const Model& model, Piece piece, std::vector<std::int64_t> input_lengths) {
  const Objective objective = model.objective();
  return {.first = piece.first,
          .count = piece.count,
          .input_width = model.input_width(),
          .target_width = objective.target_width,
          .input_classes = model.input_classes(),
          .target_classes = objective.classes,
          .input_lengths = std::move(input_lengths)};
}

}  // namespace tandem
