// SPDX-License-Identifier: Apache-2.0
#include "bench/measurement.h"

#include <algorithm>
#include <cmath>
#include <sstream>

namespace tandem::bench {
namespace {

constexpr int kMostSamples = 1'000'000;

std::string text_of(const DeviceTimes& times) {
  std::ostringstream text;
  text << times.device << ' ' << times.times.steps << ' ' << times.times.span.count();
  for (const Nanoseconds phase : times.times.total) text << ' ' << phase.count();
  text << '\n';
  return text.str();
}

Nanoseconds read_nanoseconds(std::istream& text) {
  Nanoseconds::rep count = 0;
  text >> count;
  return Nanoseconds(count);
}

// All lines of `text`.
void append_times(const std::string& text, std::vector<DeviceTimes>& all) {
  std::istringstream stream(text);
  for (DeviceTimes times; stream >> times.device >> times.times.steps;) {
    times.times.span = read_nanoseconds(stream);
    for (Nanoseconds& phase : times.times.total) phase = read_nanoseconds(stream);
    all.push_back(times);
  }
}

}  // namespace

int sample_count(const StepOptions& options, const Warmup& warmup) {
  const double fill = Seconds(options.min_time) / warmup.per_sample;
  const int wanted = static_cast<int>(std::ceil(std::min<double>(fill, kMostSamples)));
  return std::max(options.min_samples, wanted);
}

std::vector<DeviceTimes> gather_phases(Bootstrap& bootstrap, const std::vector<DeviceTimes>& mine) {
  std::string text;
  for (const DeviceTimes& times : mine) text += text_of(times);
  std::vector<DeviceTimes> all;
  for (const std::string& theirs : bootstrap.all_gather(text)) append_times(theirs, all);
  std::erase_if(all, [](const DeviceTimes& times) { return times.times.steps == 0; });
  return all;
}

std::vector<MemoryUse> gather_memory(Bootstrap& bootstrap, Platform& platform, const Device* mine) {
  std::ostringstream text;
  for (int i = 0; i < platform.device_count(); ++i) {
    Device& device = platform.device(i);
    if (mine != nullptr && mine != &device) continue;
    const MemoryUse use = device.memory();
    text << use.capacity.value << ' ' << use.used.value << ' ' << use.peak.value << '\n';
  }
  std::vector<MemoryUse> all;
  for (const std::string& theirs : bootstrap.all_gather(text.str())) {
    std::istringstream stream(theirs);
    for (MemoryUse use; stream >> use.capacity.value >> use.used.value >> use.peak.value;) {
      all.push_back(use);
    }
  }
  return all;
}

}  // namespace tandem::bench
