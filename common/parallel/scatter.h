// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/noncopyable.hpp>
#include <memory>
#include <vector>

#include "common/parallel/interpreters.h"
#include "common/parallel/replica.h"
#include "common/parallel/shards.h"
#include "common/parallel/strategy.h"

namespace tandem {

// A tensor of the whole batch that is cut along dimension 0: (batch, width).
struct BatchTensor {
  Span<const float> whole;
  std::int64_t width = 0;  // elements per sample
};

// The transfer of shards of some tensors to the replicas' devices.
//
// From host memory each device copies its shard on a separate copy stream, and the device's compute
// stream waits for this copy; from pageable memory the caller waits for each copy as well, as such
// copies do. From a device's memory every replica pulls its shard on its compute stream, and the
// replica on that device only views its shard.
class Scatter : boost::noncopyable {
 public:
  // `shards[i]` belongs to replica i. All arguments must outlive this object.
  Scatter(const std::vector<Replica*>& replicas, const std::vector<Shard>& shards,
          const std::vector<BatchTensor>& tensors, InputPlace place);
  ~Scatter();

  // Enqueues; dispatches a call per shard.
  void enqueue(Interpreter& caller);

  // Replica i's shard of a tensor, in the order of construction.
  [[nodiscard]] Span<const float> shard(int replica, int tensor) const;

  // Waits for the copy streams, even where one of them has failed.
  void synchronize();

  // Notes that replica i's stream has read its shards by here: the next step may overwrite the
  // shards.
  void release(int replica);

 private:
  struct Side;  // the shards and streams of one replica

  void copy_from_host(Side& side, Interpreter& caller);
  void pull_from_device(Side& side, Interpreter& caller);

  const std::vector<BatchTensor> tensors_;
  const InputPlace place_;
  std::vector<std::unique_ptr<Side>> sides_;
};

// The global batch as the training loop hands it to the wrapper, in the place where a step finds
// the batch: host memory, or devices - the inputs on the root's, the targets on the outputs'
// device.
class WholeBatch {
 public:
  WholeBatch(Platform& platform, const Model& model, const TrainingOptions& options, Device& root,
             Device& output_device);

  [[nodiscard]] Span<const float> inputs() const;   // (global batch, input_width)
  [[nodiscard]] Span<const float> targets() const;  // (global batch, target_width)

 private:
  const SyntheticBatch host_;
  std::unique_ptr<Buffer> inputs_;   // on the root; null: the inputs start on the host
  std::unique_ptr<Buffer> targets_;  // on the output device; null: the targets start on the host
};

}  // namespace tandem
