// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "common/optim/make_optimizer.h"
#include "common/parallel/chunk_rule.h"
#include "common/parallel/coalesced_broadcast.h"
#include "common/parallel/coalesced_reduction.h"
#include "common/parallel/device_threads.h"
#include "common/parallel/replica.h"
#include "common/parallel/strategy.h"
#include "common/runtime/platform.h"

namespace tandem::dp {

// torch's DataParallel: one process, a thread per device; device 0 holds batch, weights, loss and
// optimizer. The algorithm and its diagram stand at the head of the .cc file.
class DataParallel final : public Strategy {
 public:
  // On all devices of `platform`; with fewer pieces than devices (torch's chunk rule) the last
  // devices stay idle.
  DataParallel(Platform& platform, const Model& model, const TrainingOptions& options);
  ~DataParallel() override;

  void step() override;
  void synchronize() override;
  [[nodiscard]] TensorList weights() override;
  [[nodiscard]] TensorList gradients() override;
  [[nodiscard]] std::vector<DeviceTimes> collect_phases() override;

 private:
  struct Worker;  // a device's replica with its piece of the batch
  struct Root;    // what device 0 holds besides: whole batch, gathered outputs, loss

  void begin_on_all(Phase phase);
  void check_placement();
  void scatter();
  void forward();
  void gather();
  void compute_loss();
  void scatter_gradient();
  void backward();
  void update();

  [[nodiscard]] Worker& root_worker() { return *workers_.front(); }

  const Model& model_;
  // torch's shortcut for one device: the model itself runs, nothing is replicated or gathered.
  const bool one_device_;
  const std::vector<Device*> devices_;  // that have a piece
  std::unique_ptr<Root> root_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::unique_ptr<CoalescedBroadcast> broadcast_;
  std::unique_ptr<CoalescedReduction> reduction_;
  std::unique_ptr<Optimizer> optimizer_;
  std::unique_ptr<DeviceThreads> autograd_threads_;
};

}  // namespace tandem::dp
