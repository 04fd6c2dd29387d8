// SPDX-License-Identifier: Apache-2.0
#include "bench/step/step_watch.h"

#include <algorithm>
#include <iostream>
#include <sstream>
#include <string>

#include "common/base/system_files.h"
#include "common/comm/transports/transport_registry.h"
#include "common/runtime/host/cores.h"

namespace tandem::bench {

namespace {

// One step fewer than the least of a warm-up: every device has ended as many steps, or one less.
constexpr int kStepsWatched = kLeastWarmupSteps - 1;

std::optional<int> rank_of_process(const StepOptions& options, const Bootstrap& bootstrap) {
  if (options.job.launch == Launch::kThreads) return std::nullopt;
  return bootstrap.rank();
}

}  // namespace

void ThreadPlaces::phase_begins(Device& device, Stream&, Phase phase) {
  if (is_closed_.load(std::memory_order_relaxed)) return;
  std::vector<int> cpus = allowed_cpus();
  const std::lock_guard lock(mutex_);
  cpus_[{device.id().index, phase}] = std::move(cpus);
}

void ThreadPlaces::step_ends(Device& device, Stream&) {
  if (is_closed_.load(std::memory_order_relaxed)) return;
  const std::lock_guard lock(mutex_);
  if (++steps_by_device_[device.id().index] >= kStepsWatched) is_closed_ = true;
}

std::vector<results::ThreadPlace> ThreadPlaces::places() const {
  const std::lock_guard lock(mutex_);
  std::vector<results::ThreadPlace> places;
  for (const auto& [key, cpus] : cpus_) {
    const auto& [device, phase] = key;
    // The captures are initialised, since clang 14 captures no structured binding.
    const auto is_same = [wanted = device, &where = cpus](const results::ThreadPlace& place) {
      return place.device == wanted && place.cpus == where;
    };
    const auto same = std::ranges::find_if(places, is_same);
    results::ThreadPlace& place = same != places.end()
                                      ? *same
                                      : places.emplace_back(results::ThreadPlace{
                                            device, {}, cpus, host::numa_nodes_of(cpus)});
    place.phases.emplace_back(name_of(phase));
  }
  return places;
}

std::vector<results::ThreadPlace> ThreadPlaces::gather(Bootstrap& bootstrap) const {
  std::string mine;
  for (const results::ThreadPlace& place : places()) mine += results::to_json_line(place) + '\n';
  std::vector<results::ThreadPlace> all;
  const std::vector<std::string> by_rank = bootstrap.all_gather(mine);
  for (std::size_t rank = 0; rank < by_rank.size(); ++rank) {
    std::istringstream lines(by_rank[rank]);
    for (std::string line; std::getline(lines, line);) {
      all.push_back(results::parse_thread(line, "a rank's threads"));
      if (by_rank.size() > 1) all.back().device = static_cast<int>(rank);
    }
  }
  return all;
}

StepWatch::StepWatch(StepOptions& options, Bootstrap& bootstrap, FlightLog& flight)
    : flight_(flight),
      rank_(rank_of_process(options, bootstrap)),
      deadline_(options.job.communicator.deadline) {
  if (options.fault) fault_ = std::make_unique<PlantedFault>(*options.fault, rank_);
  CommunicatorOptions& communicator = options.job.communicator;
  communicator.rank_exit = flight.rank_exit(communicator.rank_exit.grace);
  if (rank_) communicator.observer = flight.collectives_of(0);
}

void StepWatch::come_late() const {
  if (fault_) fault_->come_late(deadline_);
}

void StepWatch::watch_for_profilers(StepOptions& options, const Job& job) {
  const bool on_host = job.platform->backend() == Backend::kHost;
  if (options.profiled_samples > 0 && on_host && job.communicator->rank() == 0) {
    std::cerr << "--profile-steps: the host back end has no CUDA profiler to start and stop; the "
                 "NVTX range capture@tandem holds the steps\n";
  }
  if (!nvtx_.is_watched()) return;
  options.ranges = &nvtx_;
  ranges_ = std::make_unique<NvtxObserver>(
      nvtx_, rank_ ? NvtxObserver::Enqueuers::kOneThread : NvtxObserver::Enqueuers::kSeveral);
}

void StepWatch::attach(StepOptions& options, PairOptions& pair, Job& job) {
  watch_for_profilers(options, job);
  // The order matters: ranges enclose the work of other observers.
  std::vector<StepObserver*> observers;
  if (options.ranges != nullptr) observers.push_back(ranges_.get());
  if (!is_simulated(job)) observers.push_back(&threads_);
  if (flight_.is_kept()) observers.push_back(&flight_);
  if (fault_) observers.push_back(fault_.get());
  for (Variant* const variant : {&options.variant, &pair.variant}) {
    variant->training.phases.observers = observers;
    watch_threads(*variant);
  }
  if (fault_ && rank_) fault_->meet(*rank_, *job.communicator);
}

// dp and dp-allreduce make their communicators themselves, one for each device.
void StepWatch::watch_threads(Variant& variant) {
  variant.deadline = deadline_;
  const auto options_of = [this](const Device& device) -> CommunicatorOptions {
    return {.deadline = deadline_,
            .observer = flight_.collectives_of(device.id().index),
            .rank_exit = flight_.rank_exit(Nanoseconds{0})};
  };
  variant.dp.communicators = options_of;
  variant.communicator = [this, options_of](Bootstrap& bootstrap, Device& device) {
    auto communicator = make_communicator(Transport::kAuto, bootstrap, device, options_of(device));
    if (fault_) fault_->meet(bootstrap.rank(), *communicator);
    return communicator;
  };
}

void StepWatch::check_fault_met() const {
  if (fault_) fault_->check_met();
}

}  // namespace tandem::bench
