// SPDX-License-Identifier: Apache-2.0
#include "bench/observe/step_watch.h"

#include <iostream>

#include "common/comm/transports.h"

namespace tandem::bench {
namespace {

std::optional<int> rank_of_process(const StepOptions& options, const Bootstrap& bootstrap) {
  if (options.place.launch == Launch::kThreads) return std::nullopt;
  return bootstrap.rank();
}

}  // namespace

StepWatch::StepWatch(StepOptions& options, Bootstrap& bootstrap, FlightLog& flight)
    : flight_(flight),
      rank_(rank_of_process(options, bootstrap)),
      deadline_(options.place.communicator.deadline) {
  if (options.fault) fault_ = std::make_unique<PlantedFault>(*options.fault, rank_);
  CommunicatorOptions& communicator = options.place.communicator;
  communicator.farewell = flight.farewell(communicator.farewell.grace);
  if (rank_) communicator.observer = flight.collectives_of(0);
}

void StepWatch::come_late() const {
  if (fault_) fault_->come_late(deadline_);
}

void StepWatch::watch_for_profilers(StepOptions& options, const Place& place) {
  const bool on_host = place.platform->backend() == Backend::kHost;
  if (options.profiled_samples > 0 && on_host && place.communicator->rank() == 0) {
    std::cerr << "--profile-steps: the host back end has no CUDA profiler to start and stop; the "
                 "NVTX range capture@tandem holds the steps\n";
  }
  if (!nvtx_.is_watched()) return;
  options.ranges = &nvtx_;
  ranges_ = std::make_unique<NvtxObserver>(
      nvtx_, rank_ ? NvtxObserver::Enqueuers::kOneThread : NvtxObserver::Enqueuers::kSeveral);
}

void StepWatch::attach(StepOptions& options, Place& place, const Model& model) {
  watch_for_profilers(options, place);
  if (options.check_numerics) {
    numerics_ = std::make_unique<NumericsCheck>(*place.platform, model.layout(), rank_);
  }
  // The order matters: ranges enclose the work of other observers, and a planted fault happens
  // before the check of numerics.
  std::vector<StepObserver*> observers;
  if (options.ranges != nullptr) observers.push_back(ranges_.get());
  observers.push_back(&threads_);
  if (flight_.is_kept()) observers.push_back(&flight_);
  if (fault_) observers.push_back(fault_.get());
  if (numerics_) observers.push_back(numerics_.get());
  options.variant.training.phases.observers = observers;
  watch_threads(options.variant);
  if (options.ab_variant) {
    options.ab_variant->training.phases.observers = observers;
    watch_threads(*options.ab_variant);
  }
  if (fault_ && rank_) fault_->meet(*rank_, *place.communicator);
}

// dp-allreduce makes its communicators itself, one on each thread.
void StepWatch::watch_threads(Variant& variant) {
  variant.deadline = deadline_;
  variant.communicator = [this](Bootstrap& bootstrap, Device& device) {
    auto communicator = make_communicator(
        Transport::kAuto, bootstrap, device,
        {.deadline = deadline_, .observer = flight_.collectives_of(bootstrap.rank())});
    if (fault_) fault_->meet(bootstrap.rank(), *communicator);
    return communicator;
  };
}

void StepWatch::check_fault_met() const {
  if (fault_) fault_->check_met();
}

}  // namespace tandem::bench
