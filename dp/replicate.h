// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/noncopyable.hpp>
#include <memory>
#include <vector>

#include "common/comm/transports/device_team.h"
#include "common/parallel/interpreters.h"
#include "common/parallel/replica.h"
#include "dp/coalescing.h"
#include "dp/options.h"

namespace tandem::dp {

// The chunks in which a grouping sends the tensors of a layout.
[[nodiscard]] std::vector<Chunk> chunks_of(const ParameterLayout& layout, Grouping grouping);

// Copies arenas of one layout, chunk by chunk, from the first replica to the others.
class Broadcast : boost::noncopyable {
 public:
  virtual ~Broadcast() = default;

  // Enqueues the broadcast.
  virtual void enqueue() = 0;

  // Makes every replica that others copy from wait until they have copied.
  virtual void hold_sources() = 0;

 protected:
  // `arenas[i]` is replica i's. `replicas` outlive the broadcast.
  Broadcast(const std::vector<Replica*>& replicas, const std::vector<Span<float>>& arenas,
            const std::vector<Chunk>& chunks);

  // Enqueues the root's flat copy of a chunk that needs one.
  void flatten(const Chunk& chunk);

  // The part of a replica that a chunk is sent from: the root's flat copy, or the chunk as it lies
  // in the replica's arena.
  [[nodiscard]] Span<float> sent(std::size_t replica, const Chunk& chunk) const;

  const std::vector<Replica*> replicas_;
  const std::vector<Span<float>> arenas_;
  const std::vector<Chunk> chunks_;

 private:
  const std::unique_ptr<Buffer> flat_;  // on the root: the flattened chunks
};

// Broadcasts by copies, as torch's broadcast_coalesced without NCCL: the root flattens each chunk
// that needs flattening, then every other device pulls the chunk, all on the replicas' own streams
// and in the phase `replicate`. In a tree a device pulls from its parent, once the parent has the
// chunk and has served the child before.
//
// The sources are written again in the next step, without an event of their own: all pulls must be
// behind the root's stream by then. In dp they are, as the output device gathers what each peer
// computes after its pulls, and the root's backward comes after the gather. Sources that forward
// itself writes need hold_sources().
class CopiedBroadcast final : public Broadcast {
 public:
  CopiedBroadcast(const std::vector<Replica*>& replicas, const std::vector<Span<float>>& arenas,
                  const std::vector<Chunk>& chunks, Order order);

  // Enqueues the devices in order, so that every pull finds its events recorded.
  void enqueue() override;
  void hold_sources() override;

 private:
  void offer(std::size_t chunk);
  void pull(std::size_t peer, std::size_t chunk);
  [[nodiscard]] std::size_t parent_of(std::size_t peer) const;
  [[nodiscard]] std::vector<std::size_t> waits_for(std::size_t peer) const;

  const Order order_;
  std::vector<std::vector<std::unique_ptr<Event>>> ready_;  // by replica and chunk: has the chunk
};

// Order::kTree, a binomial tree over the replicas 0 .. n - 1 with root 0. For `peer` > 0: the
// parent that `peer` copies from, and the sibling that copies from the same parent just before it
// (`peer` itself if `peer` is the first child).
[[nodiscard]] std::size_t tree_parent(std::size_t peer);
[[nodiscard]] std::size_t tree_sibling_before(std::size_t peer);

// Charges to `caller` what torch's Python needs to build one replica: a copy of each module,
// parameter and buffer.
void charge_construction(const Model& model, Interpreter& caller, Stream& stream);

// torch's replicate, at every step: copies the module's weights, buffers and plain attributes to
// every replica. The first replica's weights and buffers ARE the module's; anything else that
// forward changes in a replica is lost with the replica.
class Replicate {
 public:
  // The first replica is on the root. No order in `options` is kTorch (see resolved()); `team` is
  // absent if no order is collective. All arguments outlive the object.
  Replicate(const std::vector<Replica*>& replicas, const Model& model,
            const DataParallelOptions& options, DeviceTeam* team);

  // Enqueues the copies. Charges the construction of every replica to the caller, since one thread
  // builds all.
  void enqueue(const ModuleState& module, Interpreter& caller);

 private:
  const std::vector<Replica*> replicas_;
  const Model& model_;
  const std::unique_ptr<Broadcast> parameters_;
  std::unique_ptr<Broadcast> buffers_;  // apart from the parameters; null: no buffers
};

}  // namespace tandem::dp
