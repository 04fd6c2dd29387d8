// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "common/parallel/coalescing.h"
#include "common/parallel/replica.h"

namespace tandem {

// Weights from the first replica to the others, as torch's broadcast_coalesced without NCCL: the
// root flattens each chunk of several tensors into a buffer (a chunk of one tensor goes as it is),
// then every other device pulls it. All on the replicas' own streams.
//
// Flat copies are written again in the next step, without an event of their own: the peers' pulls
// must be behind the root's stream by then. In dp they are, as the root gathers outputs that each
// peer computes after its pulls.
class CoalescedBroadcast {
 public:
  // `replicas` outlive this; the first is the root.
  CoalescedBroadcast(const std::vector<Replica*>& replicas, const ParameterLayout& layout,
                     Bytes chunk_limit);

  // Enqueues. The root's part first, so that the others' pulls find their events recorded.
  void enqueue();

 private:
  void flatten(std::size_t chunk);
  [[nodiscard]] Span<float> source(const Chunk& chunk);

  const std::vector<Replica*> replicas_;
  const std::vector<Chunk> chunks_;
  const std::unique_ptr<Buffer> flat_;  // on the root: the staged chunks
  std::vector<std::unique_ptr<Event>> flat_ready_;
};

}  // namespace tandem
