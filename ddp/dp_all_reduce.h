// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "common/comm/bootstrap.h"
#include "common/comm/communicator.h"
#include "common/parallel/interpreters.h"
#include "common/parallel/scatter.h"
#include "common/parallel/strategy.h"
#include "ddp/all_reduce_rank.h"

namespace tandem::ddp {

// The source of the share of the batch of a rank that is a thread.
enum class Shards {
  kOwn,        // the rank's own loader, as in a process
  kScattered,  // the caller scatters the whole batch, as dp does
};

// Makes the communicator of one rank, on that rank's thread.
using RankCommunicator = std::function<std::unique_ptr<Communicator>(Bootstrap&, Device&)>;

struct DpAllReduceOptions {
  Shards shards = Shards::kOwn;
  ReducerOptions reducer{};
  RankCommunicator communicator{};                  // null: auto's choice
  Nanoseconds deadline = std::chrono::seconds(60);  // for ranks to meet before communicators exist
};

// The corner between dp and ddp: threads of one process as in dp, but each thread keeps its weights
// and averages gradients as in ddp. Only threads against processes distinguish this strategy from
// ddp. The diagram stands at the head of the .cc file.
class DpAllReduce final : public Strategy {
 public:
  // Runs on all devices of `platform`. Throws a usage error where the devices do not divide the
  // global batch.
  DpAllReduce(Platform& platform, const Model& model, const TrainingOptions& options,
              const DpAllReduceOptions& how = {});
  ~DpAllReduce() override;

  void step() override;
  void synchronize() override;
  [[nodiscard]] TensorList weights() override { return first().replica().parameters().tensors; }
  [[nodiscard]] TensorList gradients() override { return first().gradients(); }
  [[nodiscard]] std::vector<DeviceTimes> collect_phases() override;
  [[nodiscard]] std::map<std::string, std::string> resolved_options() const override {
    return first().implementations();
  }
  [[nodiscard]] std::vector<DeviceCollectives> collect_collectives() override;
  [[nodiscard]] int devices_used() const override { return static_cast<int>(ranks_.size()); }
  [[nodiscard]] std::int64_t dispatches() const override { return interpreters_.calls(); }
  [[nodiscard]] std::vector<Bytes> bucket_sizes() const override { return first().bucket_sizes(); }

 private:
  struct Rank;

  [[nodiscard]] AllReduceRank& first() const;
  void on_threads(const std::function<void(int)>& body);
  void build_rank(int index, Platform& platform, const Model& model, const TrainingOptions& options,
                  const DpAllReduceOptions& how);
  void build_scatter(Platform& platform, const Model& model, const TrainingOptions& options);

  const std::unique_ptr<RankGroup> group_;
  Interpreters interpreters_;
  std::unique_ptr<WholeBatch> batch_;  // null: each rank loads its own share
  std::vector<std::unique_ptr<Rank>> ranks_;
  std::unique_ptr<Scatter> scatter_;
  const std::unique_ptr<DeviceThreads> threads_;
};

}  // namespace tandem::ddp
