// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "common/parallel/coalescing.h"
#include "common/parallel/replica.h"

namespace tandem {

// Gradients of all replicas summed on the first one's device, as torch's reduce_add_coalesced
// without NCCL: every device flattens its chunk, the root copies each peer's over and adds it, one
// peer after the other. The sum is what the optimizer reads; it is never averaged.
//
// Flat copies, and gradients that are only viewed, are written again in the next step, without an
// event of their own: the root's reads must be before any peer's stream by then. In dp they are, as
// each peer pulls weights that the root flattens after its reduction.
class CoalescedReduction {
 public:
  // `gradients[i]` is replica i's arena. All outlive this.
  CoalescedReduction(const std::vector<Replica*>& replicas,
                     const std::vector<Span<float>>& gradients, const ParameterLayout& layout,
                     Bytes chunk_limit);

  // Enqueues, after all gradients of all replicas on their own streams.
  void enqueue();

  // The sum, laid out as the arena, on the root's stream. With one replica its own gradients.
  [[nodiscard]] Span<float> sum();

 private:
  [[nodiscard]] Span<float> flat_of(std::size_t replica, const Chunk& chunk);
  void flatten(std::size_t replica);
  void add_up(const Chunk& chunk);

  const std::vector<Replica*> replicas_;
  const std::vector<Span<float>> gradients_;
  const std::vector<Chunk> chunks_;
  std::vector<std::unique_ptr<Buffer>> flat_;       // per replica: the staged chunks
  std::vector<std::unique_ptr<Event>> flat_ready_;  // per replica: all its chunks
  std::unique_ptr<Buffer> arrived_;                 // on the root: one peer's chunk, the largest
  std::unique_ptr<Buffer> sum_;                     // on the root
};

}  // namespace tandem
