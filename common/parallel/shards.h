// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "common/data/synthetic_batch.h"
#include "common/model/model.h"
#include "common/parallel/replica.h"
#include "common/parallel/strategy.h"

namespace tandem {

// Samples first .. first + count.
struct Shard {
  std::int64_t first = 0;
  std::int64_t count = 0;

  bool operator==(const Shard&) const = default;
};

// How torch's chunk cuts `batch` samples for at most `devices`: shards of ceil(batch / devices),
// the last one smaller, and fewer shards than devices where that uses the samples up (9 on 4: 3, 3,
// 3).
[[nodiscard]] std::vector<Shard> chunk_batch(std::int64_t batch, int devices);

// One rank's share where every rank loads its own share: equal shares, in rank order. A usage error
// where `ranks` does not divide `batch`: averaging over ranks is the full-batch gradient only then.
[[nodiscard]] Shard share_of_batch(std::int64_t batch, int rank, int ranks);

// The shape of the samples of `shard`, inputs and targets, as the model wants samples.
// `input_lengths` as in BatchShape.
[[nodiscard]] BatchShape batch_shape(const Model& model, Shard shard,
                                     std::vector<std::int64_t> input_lengths = {});

// A rank's own share of the global batch, as the rank's loader brings the share, and the share's
// place on the device. (The root of a DataParallel holds the whole batch instead.)
class LocalBatch {
 public:
  // Takes `share` of the global batch, in each sample the elements that the model wants.
  LocalBatch(Platform& platform, Device& device, const Model& model, Shard share,
             const TrainingOptions& options);

  // Enqueues the copy from host memory to the replica's device, a call per tensor; nothing where
  // the batch starts on the device. From pageable memory load() returns once the copy is done.
  void load(Replica& replica, Interpreter& interpreter);

  [[nodiscard]] std::int64_t count() const { return host_.count(); }
  [[nodiscard]] Span<const float> inputs() const { return inputs_->as<float>(); }
  [[nodiscard]] Span<const float> targets() const { return targets_->as<float>(); }

 private:
  const InputPlace place_;
  const SyntheticBatch host_;
  const std::unique_ptr<Buffer> inputs_;
  const std::unique_ptr<Buffer> targets_;
};

}  // namespace tandem
