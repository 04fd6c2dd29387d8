// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "common/parallel/strategy.h"
#include "simulate/engine/simulated_communicator.h"
#include "simulate/engine/simulated_threads.h"

namespace tandem::simulated {

// The classes of `ranks` ranks of which the first has more to do than the others, and the last a
// smaller shard of the batch.
[[nodiscard]] std::vector<RankClass> classes_with_root(int ranks);

// Simulated ranks that are processes of unlike work: a rank of each class runs, on the device of
// the class's number, and its figures, which are those of all ranks of the class, are given once.
class SimulatedRanks final : public Strategy {
 public:
  using Make = std::function<std::unique_ptr<Strategy>(Device&, Communicator&)>;

  // Makes the ranks by `make`. `options_of` has the options of a device's communicator.
  SimulatedRanks(Platform& platform, const std::vector<RankClass>& classes,
                 const std::function<CommunicatorOptions(const Device&)>& options_of,
                 const Make& make);

  void step() override;
  void synchronize() override;
  [[nodiscard]] TensorList weights() override { return first().weights(); }
  [[nodiscard]] TensorList gradients() override { return first().gradients(); }
  [[nodiscard]] std::vector<DeviceTimes> collect_phases() override;
  [[nodiscard]] std::map<std::string, std::string> resolved_options() const override {
    return first().resolved_options();
  }
  [[nodiscard]] std::vector<DeviceCollectives> collect_collectives() override;
  [[nodiscard]] std::vector<std::string> warnings() const override { return first().warnings(); }
  [[nodiscard]] int devices_used() const override;
  [[nodiscard]] std::int64_t dispatches() const override;

 private:
  [[nodiscard]] Strategy& first() const { return *ranks_.front(); }
  [[nodiscard]] Strategy& of_class(int index) const {
    return *ranks_[static_cast<std::size_t>(index)];
  }
  template <class Figures, class Collect>
  [[nodiscard]] std::vector<Figures> of_each_class(const Collect& collect) const;

  const std::vector<RankClass> classes_;
  SimulatedProcesses processes_;
  std::vector<std::unique_ptr<Communicator>> communicators_;
  std::vector<std::unique_ptr<Strategy>> ranks_;  // last: they use the communicators
};

}  // namespace tandem::simulated
