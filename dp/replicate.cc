// SPDX-License-Identifier: Apache-2.0
#include "dp/replicate.h"

#include "dp/collective_transfers.h"

namespace tandem::dp {
namespace {

std::vector<Span<float>> parameters_of(const std::vector<Replica*>& replicas) {
  std::vector<Span<float>> arenas;
  for (Replica* const replica : replicas) arenas.push_back(replica->parameters().flat);
  return arenas;
}

std::vector<Span<float>> buffers_of(const std::vector<Replica*>& replicas) {
  std::vector<Span<float>> arenas;
  for (Replica* const replica : replicas) arenas.push_back(replica->buffers().flat);
  return arenas;
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

Replicate::Replicate(const std::vector<Replica*>& replicas, const Model& model,
                     const DataParallelOptions& options, DeviceTeam* team)
    : replicas_(replicas),
      calls_per_replica_(model.module_count() + model.layout().size() + model.buffers().size()),
      parameters_(make_broadcast(replicas, parameters_of(replicas),
                                 chunks_of(model.layout(), options.replicate), options.broadcast,
                                 team)) {
  if (model.buffers().size() == 0) return;
  buffers_ = make_broadcast(replicas, buffers_of(replicas),
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
    dispatch(caller, replica->stream(), calls_per_replica_);
  }
}

}  // namespace tandem::dp
