// SPDX-License-Identifier: Apache-2.0
#include "dp/flattened_gradients.h"

namespace tandem::dp {

FlattenedGradients::FlattenedGradients(const Gradients& gradients, const ParameterLayout& layout,
                                       Bytes chunk_limit)
    : replicas_(gradients.replicas),
      arenas_(gradients.arenas),
      chunks_(reduction_chunks(layout, chunk_limit)) {
  for (Replica* const replica : replicas_) {
    flat_.push_back(make_staging(replica->device(), chunks_));
  }
}

Span<float> FlattenedGradients::of(std::size_t replica, const Chunk& chunk) {
  return chunk.flattened ? chunk.staged_in(flat_[replica]->as<float>())
                         : chunk.of(arenas_[replica]);
}

void FlattenedGradients::flatten(std::size_t replica) {
  Replica& on = *replicas_[replica];
  on.timer().begin(on.stream(), Phase::kReduce);
  for (const Chunk& chunk : chunks_) {
    if (!chunk.flattened) continue;
    on.timer().copy(on.stream(), of(replica, chunk), chunk.of(arenas_[replica]));
  }
}

}  // namespace tandem::dp
