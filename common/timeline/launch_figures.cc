// SPDX-License-Identifier: Apache-2.0
#include "common/timeline/launch_figures.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace tandem::timeline {
namespace {

// The sums over a sample's steps on one device.
struct DeviceSample {
  Nanoseconds span{0};
  std::map<std::string, Nanoseconds> phases{};
  std::map<int, Nanoseconds> collectives{};  // by bucket

  [[nodiscard]] Nanoseconds of(const char* phase) const {
    const auto found = phases.find(phase);
    return found == phases.end() ? Nanoseconds{0} : found->second;
  }
};

// The sums by rank and device, so that a root comes first.
using Sample = std::map<std::pair<int, int>, DeviceSample>;

void add(const DeviceStep& step, DeviceSample& sample) {
  sample.span += step.end - step.begin;
  for (const Slice* const phase : step.phases) sample.phases[phase->name] += phase->length();
  for (const Slice* const one : step.collectives) sample.collectives[one->index] += one->length();
}

// The times of a process's samples; the samples of all processes are in the same order.
std::vector<Interval> times_of_samples(const Process& process) {
  std::vector<Interval> samples;
  for (const Track& track : process.tracks) {
    for (const Slice& slice : track.slices) {
      if (slice.kind == Kind::kHarness && slice.name == "sample") {
        samples.push_back({slice.begin, slice.end});
      }
    }
  }
  return samples;
}

// The lengths of the samples, as bench's sampler defines length: from the last rank's start to the
// last rank's end, or on clocks that are apart the longest of the ranks' own lengths.
std::vector<Nanoseconds> lengths_of_samples(const Trace& trace) {
  const bool is_apart = std::ranges::any_of(
      trace.processes, [&](const Process& one) { return one.host != trace.processes[0].host; });
  std::vector<Interval> all;
  std::vector<Nanoseconds> longest;
  for (const Process& process : trace.processes) {
    const std::vector<Interval> own = times_of_samples(process);
    if (all.empty()) {
      all = own;
      longest.resize(own.size());
    }
    for (std::size_t i = 0; i < std::min(own.size(), all.size()); ++i) {
      all[i].begin = std::max(all[i].begin, own[i].begin);
      all[i].end = std::max(all[i].end, own[i].end);
      longest[i] = std::max(longest[i], own[i].end - own[i].begin);
    }
  }
  if (is_apart) return longest;
  std::vector<Nanoseconds> lengths;
  for (const Interval& one : all) lengths.push_back(one.end - one.begin);
  return lengths;
}

Nanoseconds median(std::vector<Nanoseconds> values) {
  if (values.empty()) return Nanoseconds{0};
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

std::vector<Sample> samples_of(const std::vector<StepView>& steps, std::size_t steps_per_sample) {
  std::vector<Sample> samples;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (i % steps_per_sample == 0) samples.emplace_back();
    for (const DeviceStep& device : steps[i].devices) {
      add(device, samples.back()[{device.rank, device.device}]);
    }
  }
  return samples;
}

const DeviceSample& critical_of(const Sample& sample, bool has_root) {
  if (has_root) return sample.begin()->second;
  return std::ranges::max_element(sample, {}, [](const auto& one) { return one.second.span; })
      ->second;
}

template <class Value>
Nanoseconds least(const Sample& sample, const Value& value) {
  Nanoseconds found = Nanoseconds::max();
  for (const auto& [place, device] : sample) found = std::min(found, value(device));
  return found;
}

// The sum of each bucket's shortest collective over the devices: the device with the shortest one
// waited for no peer.
Nanoseconds least_collectives(const Sample& sample) {
  Nanoseconds sum{0};
  for (const auto& [index, time] : sample.begin()->second.collectives) {
    sum += least(sample, [bucket = index](const DeviceSample& device) {
      const auto found = device.collectives.find(bucket);
      return found == device.collectives.end() ? Nanoseconds::max() : found->second;
    });
  }
  return sum;
}

}  // namespace

LaunchFigures figures_of(const Trace& trace, const std::vector<StepView>& steps, bool has_root) {
  const std::vector<Nanoseconds> lengths = lengths_of_samples(trace);
  LaunchFigures figures{.samples = static_cast<int>(lengths.size()), .has_root = has_root};
  if (lengths.empty() || steps.size() < lengths.size()) return figures;
  const std::size_t per_sample = steps.size() / lengths.size();
  figures.step = Seconds(median(lengths)) / static_cast<double>(per_sample);
  const auto count = static_cast<double>(steps.size());
  for (const Sample& sample : samples_of(steps, per_sample)) {
    for (const auto& [name, time] : critical_of(sample, has_root).phases) {
      if (time > Nanoseconds{0}) figures.phases[name] += Seconds(time) / count;
    }
    figures.least_exposed +=
        Seconds(least(sample, [](const auto& one) { return one.of("exposed_comm"); })) / count;
    figures.least_compute +=
        Seconds(
            least(sample, [](const auto& one) { return one.of("forward") + one.of("backward"); })) /
        count;
    figures.collectives += Seconds(least_collectives(sample)) / count;
  }
  return figures;
}

}  // namespace tandem::timeline
