// SPDX-License-Identifier: Apache-2.0
#include "common/parallel/batch_shape.h"

#include <utility>

namespace tandem {

BatchShape batch_shape(const Model& model, Piece piece, std::vector<std::int64_t> input_lengths) {
  return {.first = piece.first,
          .count = piece.count,
          .input_width = model.input_width(),
          .target_width = model.objective().target_width,
          .input_lengths = std::move(input_lengths)};
}

}  // namespace tandem
