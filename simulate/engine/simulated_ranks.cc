// SPDX-License-Identifier: Apache-2.0
#include "simulate/engine/simulated_ranks.h"

#include <utility>

#include "common/parallel/independent.h"
#include "simulate/engine/simulated_platform.h"

namespace tandem::simulated {
namespace {

std::vector<int> first_ranks(const std::vector<RankClass>& classes) {
  std::vector<int> ranks;
  for (const RankClass& one : classes) ranks.push_back(one.first);
  return ranks;
}

int ranks_in(const std::vector<RankClass>& classes) {
  return classes.back().first + classes.back().count;
}

}  // namespace

std::vector<RankClass> classes_with_root(int ranks) {
  std::vector<RankClass> classes{{0, 1}};
  if (ranks > 2) classes.push_back({1, ranks - 2});
  if (ranks > 1) classes.push_back({ranks - 1, 1});
  return classes;
}

SimulatedRanks::SimulatedRanks(Platform& platform, const std::vector<RankClass>& classes,
                               const std::function<CommunicatorOptions(const Device&)>& options_of,
                               const Make& make)
    : classes_(classes),
      processes_(simulation_of(platform.device(0)), static_cast<int>(classes.size())),
      communicators_(make_class_communicators(devices_of(platform), first_ranks(classes),
                                              ranks_in(classes), options_of)) {
  processes_.run([&](int i) {
    ranks_.push_back(make(platform.device(i), *communicators_[static_cast<std::size_t>(i)]));
  });
  processes_.meet();
}

void SimulatedRanks::step() {
  processes_.run([this](int i) { of_class(i).step(); });
}

void SimulatedRanks::synchronize() {
  processes_.run([this](int i) { of_class(i).synchronize(); });
  processes_.meet();
}

// The figures that `collect` has of each class's rank, under that rank's number.
template <class Figures, class Collect>
std::vector<Figures> SimulatedRanks::of_each_class(const Collect& collect) const {
  std::vector<Figures> all;
  for (std::size_t i = 0; i < classes_.size(); ++i) {
    for (Figures& figures : collect(*ranks_[i])) {
      figures.device = classes_[i].first;
      all.push_back(std::move(figures));
    }
  }
  return all;
}

std::vector<DeviceTimes> SimulatedRanks::collect_phases() {
  return of_each_class<DeviceTimes>([](Strategy& rank) { return rank.collect_phases(); });
}

std::vector<DeviceCollectives> SimulatedRanks::collect_collectives() {
  return of_each_class<DeviceCollectives>(
      [](Strategy& rank) { return rank.collect_collectives(); });
}

int SimulatedRanks::devices_used() const {
  int devices = 0;
  for (std::size_t i = 0; i < classes_.size(); ++i) {
    devices += classes_[i].count * ranks_[i]->devices_used();
  }
  return devices;
}

std::int64_t SimulatedRanks::dispatches() const {
  std::int64_t calls = 0;
  for (std::size_t i = 0; i < classes_.size(); ++i) {
    calls += classes_[i].count * ranks_[i]->dispatches();
  }
  return calls;
}

}  // namespace tandem::simulated
