// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "common/comm/communicator.h"
#include "common/parallel/interpreters.h"
#include "common/parallel/replica.h"
#include "common/parallel/shards.h"
#include "common/parallel/strategy.h"

namespace tandem::dp {

// The corner between ddp and dp: a process per device as in ddp, but rank 0 owns batch, weights,
// loss and optimizer, and the other ranks are replicas that are sent weights at every step, as in
// dp. The transfers are collectives, where dp copies and adds one peer after the other: launch and
// transfers distinguish the two. The diagram stands at the head of the .cc file.
class DdpReplicate final : public Strategy {
 public:
  // One rank. Throws a usage error where the batch gives fewer shards than there are ranks.
  // Collective over `communicator`, which outlives the strategy.
  DdpReplicate(Platform& platform, Device& device, const Model& model, Communicator& communicator,
               const TrainingOptions& options);
  ~DdpReplicate() override;

  void step() override;
  void synchronize() override { replica_.stream().synchronize(); }

  // On rank 0 the model's weights; elsewhere the replica's weights, one update behind.
  [[nodiscard]] TensorList weights() override { return replica_.parameters().tensors; }
  // On rank 0 the sum of gradients over ranks; elsewhere the rank's own gradients.
  [[nodiscard]] TensorList gradients() override { return gradients_.tensors; }
  [[nodiscard]] std::vector<DeviceTimes> collect_phases() override {
    return {replica_.collect_times()};
  }
  [[nodiscard]] std::map<std::string, std::string> resolved_options() const override {
    return replica_.implementations();
  }
  [[nodiscard]] std::int64_t dispatches() const override { return interpreter_.calls(); }

 private:
  struct Root;  // rank 0's extra objects: whole batch, gathered outputs, optimizer

  void begin(Phase phase) { replica_.timer().begin(replica_.stream(), phase); }
  template <class Enqueue>
  void collective(std::string_view name, Bytes size, const Enqueue& enqueue) {
    Stream& stream = replica_.stream();
    replica_.timer().collective(stream, name, size, [&] { enqueue(stream); });
  }
  void scatter();
  void replicate();
  void gather();
  void compute_loss();
  void scatter_gradient();
  void update();

  const Model& model_;
  Communicator& communicator_;
  const std::vector<Shard> shards_;  // by rank, in samples
  const std::vector<Block> inputs_;  // the shards, in elements of the inputs
  const InputPlace input_place_;
  Interpreter interpreter_;
  std::vector<Block> outputs_;           // the shards, in elements of the replicas' outputs
  std::unique_ptr<Root> root_;           // null but on rank 0
  const std::unique_ptr<Buffer> input_;  // this rank's shard
  const Arena gradients_;                // in communicator memory, as the weights
  Replica replica_;                      // last: the stream ends before the objects that it uses
};

}  // namespace tandem::dp
