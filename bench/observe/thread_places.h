// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "common/comm/bootstrap.h"
#include "common/results/gpu_record.h"
#include "common/trace/step_observer.h"

namespace tandem::bench {

// Asks, on the threads that enqueue a device's phases, for the CPUs that those threads may run on:
// only in the first steps, which are warm-up, so that no question is timed.
class ThreadPlaces final : public StepObserver {
 public:
  void phase_begins(Device& device, Stream& stream, Phase phase) override;
  void step_ends(Device& device, Stream& stream) override;

  // The places of this process's threads, by device; phases whose threads may run on the same CPUs
  // are one entry.
  [[nodiscard]] std::vector<results::ThreadPlace> places() const;

  // The places of all ranks' threads, the same on every rank. Of several ranks each has one device,
  // whose number is the rank's own. Collective.
  [[nodiscard]] std::vector<results::ThreadPlace> gather(Bootstrap& bootstrap) const;

 private:
  using DevicePhase = std::pair<int, Phase>;

  std::atomic<bool> is_closed_{false};
  mutable std::mutex mutex_;  // guards all below
  std::map<int, int> steps_by_device_;
  std::map<DevicePhase, std::vector<int>> cpus_;  // CPUs as last seen
};

}  // namespace tandem::bench
