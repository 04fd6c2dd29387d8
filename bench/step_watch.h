// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>

#include "bench/fault.h"
#include "bench/flight_log.h"
#include "bench/job.h"
#include "bench/numerics_check.h"
#include "bench/step_options.h"
#include "bench/thread_places.h"
#include "common/comm/bootstrap.h"
#include "common/model/model.h"
#include "common/trace/nvtx_observer.h"

namespace tandem::bench {

// All that looks on while step_bench steps, put where the options say: the flight recorder, the
// check of numerics, a planted fault, a profiler's ranges; and where its threads run. Outlives the
// strategies.
class StepWatch {
 public:
  // Makes `options` tell the communicators' observers; `flight` outlives this.
  StepWatch(StepOptions& options, Bootstrap& bootstrap, FlightLog& flight);

  // Where this rank's fault is to come late, it does here.
  void come_late() const;

  // Makes `options` tell the strategies' observers, of both sides of a pair.
  void attach(StepOptions& options, Place& place, const Model& model);

  // Collective: where the threads were that enqueued the steps of all ranks.
  [[nodiscard]] std::vector<results::ThreadPlace> gather_threads(Bootstrap& bootstrap) const {
    return threads_.gather(bootstrap);
  }

  // Throws where a planted fault was never met.
  void check_fault_met() const;

 private:
  void watch_for_profilers(StepOptions& options, const Place& place);
  void watch_threads(Variant& variant);

  FlightLog& flight_;
  const std::optional<int> rank_;  // of this process; none where its devices are ranks
  const Nanoseconds deadline_;
  ThreadPlaces threads_;
  const nvtx::Domain nvtx_;
  std::unique_ptr<NvtxObserver> ranges_;  // where a tool watches
  std::unique_ptr<PlantedFault> fault_;
  std::unique_ptr<NumericsCheck> numerics_;
};

}  // namespace tandem::bench
