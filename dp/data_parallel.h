// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/comm/transports/device_team.h"
#include "common/optim/optimizer.h"
#include "common/parallel/interpreters.h"
#include "common/parallel/replica.h"
#include "common/parallel/scatter.h"
#include "common/parallel/shards.h"
#include "common/parallel/strategy.h"
#include "dp/devices.h"
#include "dp/gather.h"
#include "dp/loss.h"
#include "dp/options.h"
#include "dp/reduce.h"
#include "dp/replicate.h"

namespace tandem::dp {

// torch's parallel_apply: every replica at the same time, each on a thread of its own, the caller's
// own replica too; a single replica runs on the caller's thread.
class ParallelApply {
 public:
  // `devices` of `platform` has a device per replica.
  ParallelApply(Platform& platform, const std::vector<Device*>& devices, Threads threads);

  // Runs body(replica) for all replicas and joins the threads. Then throws the failure of the
  // lowest replica, not of the first in time, and says which replica on which device; the failures
  // of other replicas are dropped.
  void run(const std::function<void(int)>& body);

  [[nodiscard]] bool uses_threads() const { return devices_.size() > 1; }

 private:
  const std::vector<Device*> devices_;
  std::unique_ptr<DeviceThreads> threads_;  // null: the caller's thread
};

// torch's DataParallel with the training loop around it: one process, a thread per device; the
// root holds weights and optimizer. The algorithm and its diagram stand at the head of the .cc
// file.
class DataParallel final : public Strategy {
 public:
  // Runs on the devices that `how.device_ids` names; with fewer shards than devices (torch's chunk
  // rule) the last devices stay idle. Throws usage errors for ids that the platform lacks.
  DataParallel(Platform& platform, const Model& model, const TrainingOptions& options,
               const DataParallelOptions& how = {});
  ~DataParallel() override;

  // Throws a logic error that names both devices where the module is not on the root. A step that
  // throws has ended all its work, and another step may follow, unless devices met in collectives:
  // devices that waited for the failed device have given up for good.
  void step() override;
  void synchronize() override;
  [[nodiscard]] TensorList weights() override;
  [[nodiscard]] TensorList gradients() override;

  // The phase times of each device, the root's first.
  [[nodiscard]] std::vector<DeviceTimes> collect_phases() override;
  [[nodiscard]] std::vector<std::string> warnings() const override { return warnings_; }
  // The settled orders of "broadcast" and "reduce": "sequential", "tree" or "collective".
  [[nodiscard]] std::map<std::string, std::string> resolved_options() const override;
  [[nodiscard]] int devices_used() const override { return static_cast<int>(devices_.size()); }
  [[nodiscard]] std::int64_t dispatches() const override { return interpreters_.calls(); }

  // The wrapped module's buffers and plain attributes, of which replicas get copies.
  [[nodiscard]] const ModuleState& module();

  // The replica of a device that has a shard; the root's index is 0. Every step rebuilds the
  // replica.
  [[nodiscard]] Replica& replica(int index) {
    return *replicas_.at(static_cast<std::size_t>(index));
  }

  // The replicas' outputs of the latest step, on the output device, or the replicas' losses where
  // the replicas compute the loss; synchronise first.
  [[nodiscard]] ConstAnySpan gathered() { return loss_->gathered(); }

  // The loss of the whole batch in the latest step; synchronise first.
  [[nodiscard]] float loss();

 private:
  void warn_of(const DataParallelOptions& how);
  void build_replicas(const TrainingOptions& options, const DataParallelOptions& how);
  void build_transfers(Platform& platform, const TrainingOptions& options,
                       const DataParallelOptions& how);
  [[nodiscard]] std::unique_ptr<ReduceToRoot> make_reduce(const Gradients& gradients);
  void misplace_module(Device& device);

  [[nodiscard]] Device& output_device_of(Platform& platform, const DataParallelOptions& how);

  void enqueue_step();
  void abandon_step();
  void begin_on_all(Phase phase);
  void check_placement();
  void forward();
  void forward_in_replica(int index, Interpreter& interpreter);
  void backward();
  void update();
  void end_step();

  [[nodiscard]] Replica& root() { return *replicas_.front(); }

  const Model& model_;
  const std::vector<Device*> named_;  // by device_ids
  const std::vector<Shard> shards_;
  const std::vector<Device*> devices_;  // devices that have a shard
  // Whether torch's shortcut for one device applies: the module itself runs, and nothing is
  // replicated or gathered.
  const bool one_device_;
  const Order broadcast_order_;
  const Order reduce_order_;
  std::vector<std::string> warnings_;
  Interpreters interpreters_;
  std::optional<Arena> misplaced_;  // the module's parameters, where they are not on the root
  ModuleState module_;              // the module that replicas are made from

  std::unique_ptr<WholeBatch> batch_;
  std::vector<Arena> gradients_;                    // per replica
  std::vector<std::unique_ptr<Replica>> replicas_;  // the root's is the module itself
  std::unique_ptr<OutputDevice> output_device_;
  std::unique_ptr<Scatter> scatter_;
  std::unique_ptr<DeviceTeam> team_;  // null where no transfer is a collective
  std::unique_ptr<Replicate> replicate_;
  std::unique_ptr<ParallelApply> parallel_apply_;
  std::unique_ptr<Loss> loss_;
  std::unique_ptr<DeviceThreads> autograd_threads_;
  std::unique_ptr<ReduceToRoot> reduce_;
  std::unique_ptr<Optimizer> optimizer_;
};

}  // namespace tandem::dp
