// SPDX-License-Identifier: Apache-2.0
#include "bench/step/rank_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <utility>

#include "common/parallel/independent.h"

namespace tandem::bench {

namespace {

// Figures travel as numbers in a text. Writer and reader are passed the same fields in the same
// order, by one pass() for each type.
class FigureWriter {
 public:
  template <class Number>
  void operator()(const Number& number) {
    text_ += fmt::format("{} ", number);
  }
  void operator()(Nanoseconds time) { (*this)(time.count()); }

  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

class FigureReader {
 public:
  explicit FigureReader(const std::string& text) : text_(text) {}

  template <class Number>
  void operator()(Number& number) {
    text_ >> number;
  }
  void operator()(Nanoseconds& time) {
    Nanoseconds::rep count = 0;
    text_ >> count;
    time = Nanoseconds(count);
  }

 private:
  std::istringstream text_;
};

template <class Field>
void pass(Field& field, PhaseTimes& times) {
  field(times.steps);
  field(times.span);
  for (Nanoseconds& phase : times.total) field(phase);
}

template <class Field>
void pass(Field& field, CollectiveTimes& times) {
  field(times.size.value);
  field(times.total);
  field(times.steps);
}

template <class Field>
void pass(Field& field, MemoryUse& use) {
  field(use.capacity.value);
  field(use.used.value);
  field(use.peak.value);
}

template <class Field, class Figures>
void pass(Field& field, std::vector<Figures>& all) {
  std::size_t size = all.size();
  field(size);
  all.resize(size);
  for (Figures& figures : all) pass(field, figures);
}

template <class Field, class Figures>
void pass(Field& field, DeviceSamples<Figures>& device) {
  field(device.device);
  pass(field, device.samples);
}

// The figures of each rank's devices, by rank.
template <class Figures>
std::vector<std::vector<Figures>> gather(Bootstrap& bootstrap, std::vector<Figures> mine) {
  FigureWriter writer;
  pass(writer, mine);
  std::vector<std::vector<Figures>> by_rank;
  for (const std::string& text : bootstrap.all_gather(writer.text())) {
    FigureReader reader(text);
    pass(reader, by_rank.emplace_back());
  }
  return by_rank;
}

// All ranks' devices, in rank order; of simulated processes this one has all figures. Ranks have a
// device each, and on several nodes count the devices of their own node: the job's devices are
// counted by rank.
template <class Figures>
std::vector<DeviceSamples<Figures>> gather_devices(
    Bootstrap& bootstrap, const Job& job, const std::vector<DeviceSamples<Figures>>& mine) {
  if (!job.rank_classes.empty()) return mine;
  std::vector<DeviceSamples<Figures>> all;
  const auto by_rank = gather(bootstrap, mine);
  for (std::size_t rank = 0; rank < by_rank.size(); ++rank) {
    for (const DeviceSamples<Figures>& device : by_rank[rank]) {
      all.push_back(device);
      if (by_rank.size() > 1) all.back().device = static_cast<int>(rank);
    }
  }
  return all;
}

// The samples of a device, which begin with the device's first sample.
template <class Figures>
std::vector<Figures>& samples_of(std::vector<DeviceSamples<Figures>>& all, int device) {
  const auto found = std::ranges::find(all, device, &DeviceSamples<Figures>::device);
  return found != all.end() ? found->samples
                            : all.emplace_back(DeviceSamples<Figures>{device, {}}).samples;
}

}  // namespace

// Adds nothing for devices with phases off.
void RankTimes::add_sample(Strategy& strategy) {
  for (const DeviceTimes& sample : strategy.collect_phases()) {
    if (sample.times.steps == 0) continue;
    samples_of(phases_, sample.device).push_back(sample.times);
  }
  for (DeviceCollectives& sample : strategy.collect_collectives()) {
    if (sample.collectives.empty()) continue;
    samples_of(collectives_, sample.device).push_back(std::move(sample.collectives));
  }
}

std::vector<DevicePhaseTimes> RankTimes::gather_phases(Bootstrap& bootstrap, const Job& job) const {
  return gather_devices(bootstrap, job, phases_);
}

std::vector<DeviceCollectiveTimes> RankTimes::gather_collectives(Bootstrap& bootstrap,
                                                                 const Job& job) const {
  return gather_devices(bootstrap, job, collectives_);
}

std::vector<MemoryUse> gather_memory(Bootstrap& bootstrap, const Job& job) {
  std::vector<MemoryUse> here;
  if (job.launch == Launch::kProcesses && job.rank_classes.size() < 2) {
    here.push_back(job.device->memory());  // a process may not hold the other ranks' devices
  } else {
    for (const Device* const device : devices_of(*job.platform)) here.push_back(device->memory());
  }
  if (!job.rank_classes.empty()) return here;
  std::vector<MemoryUse> all;
  for (const std::vector<MemoryUse>& theirs : gather(bootstrap, here)) {
    all.insert(all.end(), theirs.begin(), theirs.end());
  }
  return all;
}

}  // namespace tandem::bench
