// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/noncopyable.hpp>
#include <memory>
#include <vector>

#include "common/parallel/replica.h"
#include "dp/options.h"

namespace tandem::dp {

// Gradients of all replicas summed on the root, never averaged: the backward of replication, which
// torch hangs on one autograd node, so that the reduction starts when the last gradient of the last
// replica is made. Here are the sums by copies, in turn or by a tree; where devices have NCCL the
// sum is a collective (collective_transfers.h).
//
// Gradients, and flat copies of gradients, are written again in the next step without an event of
// their own: all reads must be before any peer's stream by then. In dp all reads are, as each peer
// pulls weights that the root sends after its update.
class ReduceToRoot : boost::noncopyable {
 public:
  virtual ~ReduceToRoot() = default;

  // Enqueues the reduction, after all gradients of all replicas on their own streams.
  virtual void enqueue() = 0;

  // The sum, laid out as the arena, on the root's stream. With one replica the sum is the replica's
  // own gradients.
  [[nodiscard]] virtual Span<float> sum() = 0;
};

// The summands: `arenas[i]` is replica i's, laid out as `layout`. All of them outlive the
// reduction.
struct Gradients {
  std::vector<Replica*> replicas;
  std::vector<Span<float>> arenas;
};

// torch's reduce_add_coalesced without NCCL: every device flattens its chunks; the root copies each
// peer's chunk over and adds it, one peer after the other. sum = root + peer 1, then += peer 2, and
// so on. The gradients themselves stay as they are.
[[nodiscard]] std::unique_ptr<ReduceToRoot> make_sequential_reduce(const Gradients& gradients,
                                                                   const ParameterLayout& layout,
                                                                   Bytes chunk_limit);

// Sums in pairs, on the gradients as they lie: in round r, device i with i % 2^(r+1) = 0 copies the
// gradients of i + 2^r over and adds them to its own. Overwrites gradients with partial sums.
[[nodiscard]] std::unique_ptr<ReduceToRoot> make_tree_reduce(const Gradients& gradients);

}  // namespace tandem::dp
