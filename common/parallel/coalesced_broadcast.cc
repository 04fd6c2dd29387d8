// SPDX-License-Identifier: Apache-2.0
#include "common/parallel/coalesced_broadcast.h"

#include "common/runtime/copy.h"

namespace tandem {

CoalescedBroadcast::CoalescedBroadcast(const std::vector<Replica*>& replicas,
                                       const ParameterLayout& layout, Bytes chunk_limit)
    : replicas_(replicas),
      chunks_(broadcast_chunks(layout, chunk_limit)),
      flat_(make_staging(replicas.front()->device(), chunks_)) {
  for (std::size_t chunk = 0; chunk < chunks_.size(); ++chunk) {
    flat_ready_.push_back(replicas.front()->device().make_event());
  }
}

Span<float> CoalescedBroadcast::source(const Chunk& chunk) {
  return chunk.is_staged() ? chunk.staged_in(flat_->as<float>())
                           : chunk.of(replicas_.front()->parameters().flat);
}

void CoalescedBroadcast::flatten(std::size_t chunk) {
  Replica& root = *replicas_.front();
  if (chunks_[chunk].is_staged()) {
    enqueue_copy(root.stream(), source(chunks_[chunk]), chunks_[chunk].of(root.parameters().flat));
  }
  root.stream().record(*flat_ready_[chunk]);
}

void CoalescedBroadcast::enqueue() {
  replicas_.front()->timer().begin(replicas_.front()->stream(), Phase::kReplicate);
  for (std::size_t chunk = 0; chunk < chunks_.size(); ++chunk) flatten(chunk);
  for (std::size_t peer = 1; peer < replicas_.size(); ++peer) {
    Replica& replica = *replicas_[peer];
    for (std::size_t chunk = 0; chunk < chunks_.size(); ++chunk) {
      replica.timer().begin(replica.stream(), Phase::kIdle);
      replica.stream().wait(*flat_ready_[chunk]);
      replica.timer().begin(replica.stream(), Phase::kReplicate);
      enqueue_copy(replica.stream(), chunks_[chunk].of(replica.parameters().flat),
                   source(chunks_[chunk]));
    }
  }
}

}  // namespace tandem
