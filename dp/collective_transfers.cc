// SPDX-License-Identifier: Apache-2.0
#include "dp/collective_transfers.h"

#include "common/base/error.h"
#include "dp/coalescing.h"

namespace tandem::dp {
namespace {

constexpr int kRoot = 0;

struct WatchedCollective {
  const char* name;
  Bytes size;
};

// Runs `call(rank, replica)` on every rank's communicator, as one collective. Observers on each
// device from `first` on see the collective outside of all calls: the work that the calls
// enqueue may come with the last call.
template <class Call>
void on_all(DeviceTeam& team, const std::vector<Replica*>& replicas,
            const WatchedCollective& collective, const Call& call, std::size_t first = 0) {
  if (first < replicas.size()) {
    Replica& replica = *replicas[first];
    return replica.timer().collective(replica.stream(), collective.name, collective.size,
                                      [&] { on_all(team, replicas, collective, call, first + 1); });
  }
  team.together([&] {
    for (std::size_t i = 0; i < replicas.size(); ++i) call(team.rank(static_cast<int>(i)), i);
  });
}

class CollectiveBroadcast final : public Broadcast {
 public:
  CollectiveBroadcast(DeviceTeam& team, const std::vector<Replica*>& replicas,
                      const std::vector<Span<float>>& arenas, const std::vector<Chunk>& chunks)
      : Broadcast(replicas, arenas, chunks), team_(team) {
    TANDEM_CHECK(team.size() == static_cast<int>(replicas.size()), "{} ranks for {} replicas",
                 team.size(), replicas.size());
  }

  void enqueue() override {
    for (Replica* const replica : replicas_) {
      replica->timer().begin(replica->stream(), Phase::kReplicate);
    }
    for (const Chunk& chunk : chunks_) {
      flatten(chunk);
      on_all(team_, replicas_, {"broadcast", sent(0, chunk).size_bytes()},
             [&](Communicator& rank, std::size_t i) {
               rank.broadcast(replicas_[i]->stream(), sent(i, chunk), kRoot);
             });
    }
  }

  // A collective is done on a device once that device's part is done, so no source needs holding.
  void hold_sources() override {}

 private:
  DeviceTeam& team_;
};

class CollectiveReduce final : public ReduceToRoot {
 public:
  CollectiveReduce(DeviceTeam& team, const Gradients& gradients, const ParameterLayout& layout,
                   Bytes chunk_limit)
      : team_(team),
        replicas_(gradients.replicas),
        gradients_(gradients, layout, chunk_limit),
        sum_(replicas_.front()->device().allocate(gradients.arenas.front().size_bytes())) {
    TANDEM_CHECK(team.size() == static_cast<int>(replicas_.size()), "{} ranks for {} replicas",
                 team.size(), replicas_.size());
  }

  [[nodiscard]] Span<float> sum() override { return sum_->as<float>(); }

  void enqueue() override {
    for (std::size_t i = 0; i < replicas_.size(); ++i) gradients_.flatten(i);
    for (const Chunk& chunk : gradients_.chunks()) {
      on_all(team_, replicas_, {"reduce", chunk.of(sum()).size_bytes()},
             [&](Communicator& rank, std::size_t i) {
               const Span<float> result = i == 0 ? chunk.of(sum()) : Span<float>{};
               rank.reduce(replicas_[i]->stream(), gradients_.of(i, chunk), result, kRoot);
             });
    }
  }

 private:
  DeviceTeam& team_;
  const std::vector<Replica*> replicas_;
  FlattenedGradients gradients_;
  const std::unique_ptr<Buffer> sum_;  // on the root
};

}  // namespace

std::unique_ptr<Broadcast> make_collective_broadcast(DeviceTeam& team,
                                                     const std::vector<Replica*>& replicas,
                                                     const std::vector<Span<float>>& arenas,
                                                     const std::vector<Chunk>& chunks) {
  return std::make_unique<CollectiveBroadcast>(team, replicas, arenas, chunks);
}

std::unique_ptr<ReduceToRoot> make_collective_reduce(DeviceTeam& team, const Gradients& gradients,
                                                     const ParameterLayout& layout,
                                                     Bytes chunk_limit) {
  return std::make_unique<CollectiveReduce>(team, gradients, layout, chunk_limit);
}

Order resolved(Order order, const std::vector<Device*>& devices) {
  if (order != Order::kTorch) return order;
  const bool has_peers = devices.size() > 1;
  return has_peers && nccl_serves(devices).possible ? Order::kCollective : Order::kSequential;
}

}  // namespace tandem::dp
