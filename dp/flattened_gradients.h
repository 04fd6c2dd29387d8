// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "dp/coalescing.h"
#include "dp/reduce_to_root.h"

namespace tandem::dp {

// The gradients of all replicas in the chunks in which a reduction sends gradients, as in torch's
// reduce_add_coalesced: each device flattens its own gradients. A chunk of one tensor is only
// viewed.
class FlattenedGradients {
 public:
  FlattenedGradients(const Gradients& gradients, const ParameterLayout& layout, Bytes chunk_limit);

  [[nodiscard]] const std::vector<Chunk>& chunks() const { return chunks_; }

  // The part of a replica's gradients that a chunk sends; flat chunks hold values after flatten().
  [[nodiscard]] Span<float> of(std::size_t replica, const Chunk& chunk);

  // Enqueues a replica's copies on its own stream, in phase `reduce`.
  void flatten(std::size_t replica);

 private:
  const std::vector<Replica*> replicas_;
  const std::vector<Span<float>> arenas_;
  const std::vector<Chunk> chunks_;
  std::vector<std::unique_ptr<Buffer>> flat_;  // per replica: the flattened chunks
};

}  // namespace tandem::dp
