// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>

#include "bench/job/fault.h"
#include "bench/job/job.h"
#include "bench/observe/flight_log.h"
#include "bench/observe/numerics_check.h"
#include "bench/observe/thread_places.h"
#include "bench/step/step_options.h"
#include "common/comm/bootstrap.h"
#include "common/model/model.h"
#include "common/trace/nvtx_observer.h"

namespace tandem::bench {

// The observers of step_bench's steps, placed as the options say: the flight recorder, the check of
// numerics, a planted fault, a profiler's ranges, and the places of the step's threads. Outlives
// the strategies.
class StepWatch {
 public:
  // Gives the communicators' observers to `options`; `flight` outlives this watch.
  StepWatch(StepOptions& options, Bootstrap& bootstrap, FlightLog& flight);

  // Sleeps through the deadline where this rank's fault is to come late.
  void come_late() const;

  // Gives the strategies' observers to `options`, for both sides of a pair.
  void attach(StepOptions& options, Place& place, const Model& model);

  // The places of the threads that enqueued the steps of all ranks. Collective.
  [[nodiscard]] std::vector<results::ThreadPlace> gather_threads(Bootstrap& bootstrap) const {
    return threads_.gather(bootstrap);
  }

  // Throws where a planted fault was never met.
  void check_fault_met() const;

 private:
  void watch_for_profilers(StepOptions& options, const Place& place);
  void watch_threads(Variant& variant);

  FlightLog& flight_;
  const std::optional<int> rank_;  // this process's rank; none where its devices are ranks
  const Nanoseconds deadline_;
  ThreadPlaces threads_;
  const nvtx::Domain nvtx_;
  std::unique_ptr<NvtxObserver> ranges_;  // null where no tool watches
  std::unique_ptr<PlantedFault> fault_;
  std::unique_ptr<NumericsCheck> numerics_;
};

}  // namespace tandem::bench
