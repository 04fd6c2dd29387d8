// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "common/runtime/device.h"

namespace tandem {

// Weights and their gradients in one piece of memory each, which one operation updates.
struct Stretch {
  Span<float> weight;
  Span<const float> gradient;
  std::int64_t offset = 0;  // the piece's place among all weights, in list order
};

// Joins the two lists, segment by segment, where neighbours are adjacent in both. Throws a logic
// error where the lists do not pair up or do not add up to `count`. All is checked before any
// operation is enqueued, so that a step is taken whole or not at all.
[[nodiscard]] std::vector<Stretch> stretches_of(const std::vector<Span<float>>& weights,
                                                const std::vector<Span<const float>>& gradients,
                                                std::int64_t count);

// State of one zero element per weight. Throws a logic error where there are no weights.
[[nodiscard]] std::unique_ptr<Buffer> allocate_state(Device& device, std::int64_t count);

}  // namespace tandem
