// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "common/parallel/interpreters.h"
#include "common/parallel/single.h"

namespace tandem {

// A bound: every device of this process trains alone on its share of the batch, without any
// communication. The devices are threads of one process here; a rank that is a process is a Single
// of its share, and the difference between the two is the cost of the launch model.
//
//   caller    run ----------------------------------- join
//   thread i      input forward loss backward update      (on device i's stream)
class IndependentThreads final : public Strategy {
 public:
  IndependentThreads(Platform& platform, const Model& model, const TrainingOptions& options,
                     int micro_batches = 1);

  void step() override;
  void synchronize() override;
  [[nodiscard]] TensorList weights() override { return devices_.front()->weights(); }
  [[nodiscard]] TensorList gradients() override { return devices_.front()->gradients(); }
  [[nodiscard]] std::vector<DeviceTimes> collect_phases() override;
  [[nodiscard]] std::map<std::string, std::string> resolved_options() const override {
    return devices_.front()->resolved_options();
  }
  [[nodiscard]] int devices_used() const override { return static_cast<int>(devices_.size()); }
  [[nodiscard]] std::int64_t dispatches() const override { return interpreters_.calls(); }

 private:
  Interpreters interpreters_;
  std::vector<std::unique_ptr<Single>> devices_;
  const std::unique_ptr<DeviceThreads> threads_;
};

// All devices of a platform, in order.
[[nodiscard]] std::vector<Device*> devices_of(Platform& platform);

}  // namespace tandem
