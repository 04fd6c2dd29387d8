// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "common/comm/communicator.h"
#include "common/optim/make_optimizer.h"
#include "common/parallel/batch_shape.h"
#include "common/parallel/interpreters.h"
#include "common/parallel/replica.h"
#include "common/parallel/strategy.h"

namespace tandem::dp {

// The corner between ddp and dp: a process per device as in ddp, but rank 0 owns batch, weights,
// loss and optimizer, and the others are replicas that are sent weights at every step, as in dp.
// Its transfers are collectives, where dp copies and adds one peer after the other: between the two
// lie launch and transfers. The diagram stands at the head of the .cc file.
class DdpReplicate final : public Strategy {
 public:
  // One rank. Collective over `communicator`, which outlives this. Usage error where the batch
  // gives fewer pieces than there are ranks.
  DdpReplicate(Platform& platform, Device& device, const Model& model, Communicator& communicator,
               const TrainingOptions& options);
  ~DdpReplicate() override;

  void step() override;
  void synchronize() override { replica_.stream().synchronize(); }

  // On rank 0 the model's; elsewhere the replica's, one update behind.
  [[nodiscard]] TensorList weights() override { return replica_.parameters().tensors; }
  // On rank 0 the sum over ranks; elsewhere the rank's own.
  [[nodiscard]] TensorList gradients() override { return gradients_.tensors; }
  [[nodiscard]] std::vector<DeviceTimes> collect_phases() override;
  [[nodiscard]] std::map<std::string, std::string> settled_options() const override {
    return replica_.means();
  }
  [[nodiscard]] std::int64_t dispatches() const override { return interpreter_.calls(); }

 private:
  struct Root;  // what rank 0 holds besides: the whole batch, gathered outputs, the optimizer

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
  const std::vector<Piece> pieces_;   // by rank, in samples
  const std::vector<Block> inputs_;   // the same in elements of the inputs
  const std::vector<Block> outputs_;  // and of the outputs
  const int calls_per_replica_;
  const InputPlace input_place_;
  Interpreter interpreter_;
  std::unique_ptr<Root> root_;           // null but on rank 0
  const std::unique_ptr<Buffer> input_;  // this rank's piece
  const Arena gradients_;                // in memory of the communicator, as the weights
  Replica replica_;                      // last: its stream ends before what it works on goes
};

}  // namespace tandem::dp
