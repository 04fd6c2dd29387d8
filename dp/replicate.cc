// SPDX-License-Identifier: Apache-2.0
#include "dp/replicate.h"

#include <bit>

#include "dp/collective_transfers.h"

namespace tandem::dp {

std::vector<Chunk> chunks_of(const ParameterLayout& layout, Grouping grouping) {
  switch (grouping) {
    case Grouping::kTensor:
      return tensor_chunks(layout);
    case Grouping::kCoalesced:
      return broadcast_chunks(layout, kTorchCoalescedChunk);
    case Grouping::kFlat:
      return flat_chunk(layout);
  }
  fail(ErrorKind::kLogic, "a grouping without a name");
}

Broadcast::Broadcast(const std::vector<Replica*>& replicas, const std::vector<Span<float>>& arenas,
                     const std::vector<Chunk>& chunks)
    : replicas_(replicas),
      arenas_(arenas),
      chunks_(chunks),
      flat_(make_staging(replicas.front()->device(), chunks_)) {}

void Broadcast::flatten(const Chunk& chunk) {
  if (!chunk.flattened) return;
  Replica& root = *replicas_.front();
  root.timer().copy(root.stream(), sent(0, chunk), chunk.of(arenas_.front()));
}

Span<float> Broadcast::sent(std::size_t replica, const Chunk& chunk) const {
  const bool is_flat = replica == 0 && chunk.flattened;
  return is_flat ? chunk.staged_in(flat_->as<float>()) : chunk.of(arenas_[replica]);
}

CopiedBroadcast::CopiedBroadcast(const std::vector<Replica*>& replicas,
                                 const std::vector<Span<float>>& arenas,
                                 const std::vector<Chunk>& chunks, Order order)
    : Broadcast(replicas, arenas, chunks), order_(order) {
  for (Replica* const replica : replicas) {
    auto& events = ready_.emplace_back();
    for (std::size_t i = 0; i < chunks_.size(); ++i) {
      events.push_back(replica->device().make_event());
    }
  }
}

void CopiedBroadcast::offer(std::size_t chunk) {
  flatten(chunks_[chunk]);
  replicas_.front()->stream().record(*ready_.front()[chunk]);
}

std::size_t CopiedBroadcast::parent_of(std::size_t peer) const {
  return order_ == Order::kTree ? tree_parent(peer) : 0;
}

std::vector<std::size_t> CopiedBroadcast::waits_for(std::size_t peer) const {
  std::vector<std::size_t> before{parent_of(peer)};
  if (order_ == Order::kTree && tree_sibling_before(peer) != peer) {
    before.push_back(tree_sibling_before(peer));
  }
  return before;
}

void CopiedBroadcast::pull(std::size_t peer, std::size_t chunk) {
  Replica& replica = *replicas_[peer];
  replica.timer().begin(replica.stream(), Phase::kIdle);
  for (const std::size_t other : waits_for(peer)) replica.stream().wait(*ready_[other][chunk]);
  replica.timer().begin(replica.stream(), Phase::kReplicate);
  replica.timer().copy(replica.stream(), chunks_[chunk].of(arenas_[peer]),
                       sent(parent_of(peer), chunks_[chunk]));
  replica.stream().record(*ready_[peer][chunk]);
}

void CopiedBroadcast::enqueue() {
  Replica& root = *replicas_.front();
  root.timer().begin(root.stream(), Phase::kReplicate);
  for (std::size_t chunk = 0; chunk < chunks_.size(); ++chunk) offer(chunk);
  for (std::size_t peer = 1; peer < replicas_.size(); ++peer) {
    for (std::size_t chunk = 0; chunk < chunks_.size(); ++chunk) pull(peer, chunk);
  }
}

void CopiedBroadcast::hold_sources() {
  for (std::size_t peer = 1; peer < replicas_.size(); ++peer) {
    Replica& source = *replicas_[parent_of(peer)];
    source.timer().begin(source.stream(), Phase::kIdle);
    source.stream().wait(*ready_[peer].back());
  }
}

// Round r doubles the peers that have the data: peers 2^r .. 2^(r+1) - 1 receive from the peers 2^r
// below.
std::size_t tree_parent(std::size_t peer) { return peer - std::bit_floor(peer); }

std::size_t tree_sibling_before(std::size_t peer) {
  const std::size_t parent = tree_parent(peer);
  const std::size_t step = std::bit_floor(peer) / 2;
  return step > parent ? parent + step : peer;  // the first child is one round above its parent
}

namespace {

std::vector<Span<float>> flat_of(const std::vector<Replica*>& replicas,
                                 const Arena& (Replica::*arena)() const) {
  std::vector<Span<float>> all;
  for (Replica* const replica : replicas) all.push_back((replica->*arena)().flat);
  return all;
}

std::unique_ptr<Broadcast> make_broadcast(const std::vector<Replica*>& replicas,
                                          const std::vector<Span<float>>& arenas,
                                          const std::vector<Chunk>& chunks, Order order,
                                          DeviceTeam* team) {
  if (order == Order::kCollective) {
    return make_collective_broadcast(*team, replicas, arenas, chunks);
  }
  return std::make_unique<CopiedBroadcast>(replicas, arenas, chunks, order);
}

}  // namespace

void charge_construction(const Model& model, Interpreter& caller, Stream& stream) {
  dispatch(caller, stream, DispatchKind::kReplicaModule, model.module_count());
  dispatch(caller, stream, DispatchKind::kReplicaParameter, model.layout().size());
  dispatch(caller, stream, DispatchKind::kReplicaBuffer, model.buffers().size());
}

Replicate::Replicate(const std::vector<Replica*>& replicas, const Model& model,
                     const DataParallelOptions& options, DeviceTeam* team)
    : replicas_(replicas),
      model_(model),
      parameters_(make_broadcast(replicas, flat_of(replicas, &Replica::parameters),
                                 chunks_of(model.layout(), options.replicate), options.broadcast,
                                 team)) {
  if (model.buffers().size() == 0) return;
  buffers_ = make_broadcast(replicas, flat_of(replicas, &Replica::buffers),
                            chunks_of(model.buffers(), options.replicate), options.broadcast, team);
}

void Replicate::enqueue(const ModuleState& module, Interpreter& caller) {
  parameters_->enqueue();
  if (buffers_) {
    buffers_->enqueue();
    buffers_->hold_sources();  // forward may write buffers in place
  }
  for (Replica* const replica : replicas_) {
    replica->state().attributes = module.attributes;
    replica->timer().begin(replica->stream(), Phase::kReplicate);
    charge_construction(model_, caller, replica->stream());
  }
}

}  // namespace tandem::dp
