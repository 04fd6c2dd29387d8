// SPDX-License-Identifier: Apache-2.0
#include "bench/observe/thread_places.h"

#include <algorithm>
#include <sstream>
#include <string>

#include "bench/step/step_checks.h"
#include "common/results/record_text.h"
#include "common/runtime/host/cores.h"

namespace tandem::bench {
namespace {

// One step fewer than the least of a warm-up: every device has ended as many steps, or one less.
constexpr int kStepsWatched = kLeastWarmupSteps - 1;

}  // namespace

void ThreadPlaces::phase_begins(Device& device, Stream&, Phase phase) {
  if (is_closed_.load(std::memory_order_relaxed)) return;
  std::vector<int> cpus = host::allowed_cpus();
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
    place.phases.emplace_back(kPhaseNames[static_cast<std::size_t>(phase)]);
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

}  // namespace tandem::bench
