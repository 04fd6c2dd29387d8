// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "bench/job/fault.h"
#include "bench/job/job.h"
#include "bench/observe/flight_log.h"
#include "bench/step/step_options.h"
#include "common/comm/bootstrap.h"
#include "common/results/launch_record.h"
#include "common/trace/nvtx_observer.h"
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

  // The places of all ranks' threads, the same on every rank. Several ranks have one device each,
  // whose number is the rank's own. Collective.
  [[nodiscard]] std::vector<results::ThreadPlace> gather(Bootstrap& bootstrap) const;

 private:
  using DevicePhase = std::pair<int, Phase>;

  std::atomic<bool> is_closed_{false};
  mutable std::mutex mutex_;  // guards all below
  std::map<int, int> steps_by_device_;
  std::map<DevicePhase, std::vector<int>> cpus_;  // CPUs as last seen
};

// The observers of step_bench's steps, placed as the options say: the flight recorder, a
// planted fault, a profiler's ranges, and the places of the step's threads. Outlives
// the strategies.
class StepWatch {
 public:
  // Gives the communicators' observers to `options`; `flight` outlives this watch.
  StepWatch(StepOptions& options, Bootstrap& bootstrap, FlightLog& flight);

  // Sleeps through the deadline where this rank's fault is to come late.
  void come_late() const;

  // Gives the strategies' observers to `options`, and to the other side of a pair.
  void attach(StepOptions& options, PairOptions& pair, Job& job);

  // The places of the threads that enqueued the steps of all ranks. Collective.
  [[nodiscard]] std::vector<results::ThreadPlace> gather_threads(Bootstrap& bootstrap) const {
    return threads_.gather(bootstrap);
  }

  // Throws where a planted fault was never met.
  void check_fault_met() const;

 private:
  void watch_for_profilers(StepOptions& options, const Job& job);
  void watch_threads(Variant& variant);

  FlightLog& flight_;
  const std::optional<int> rank_;  // this process's rank; none where its devices are ranks
  const Nanoseconds deadline_;
  ThreadPlaces threads_;
  const nvtx::Domain nvtx_;
  std::unique_ptr<NvtxObserver> ranges_;  // null where no tool watches
  std::unique_ptr<PlantedFault> fault_;
};

}  // namespace tandem::bench
