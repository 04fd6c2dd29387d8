// SPDX-License-Identifier: Apache-2.0
#include "bench/measurement.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <sstream>

namespace tandem::bench {
namespace {

constexpr int kMostSamples = 1'000'000;

std::string text_of(const DeviceBooks& books) {
  const PhaseTimes& times = books.all.times;
  std::ostringstream text;
  text << books.all.device << ' ' << times.steps << ' ' << times.span.count();
  for (const Nanoseconds phase : times.total) text << ' ' << phase.count();
  text << ' ' << books.step_spans.size();
  for (const double span : books.step_spans) text << fmt::format(" {:.17g}", span);
  text << '\n';
  return text.str();
}

Nanoseconds read_nanoseconds(std::istream& text) {
  Nanoseconds::rep count = 0;
  text >> count;
  return Nanoseconds(count);
}

// All lines of `text`, as of device `rank` where ranks have one each: on several nodes each counts
// its own from 0.
void append_books(const std::string& text, std::optional<int> rank, std::vector<DeviceBooks>& all) {
  std::istringstream stream(text);
  for (DeviceBooks books; stream >> books.all.device >> books.all.times.steps;) {
    books.all.times.span = read_nanoseconds(stream);
    for (Nanoseconds& phase : books.all.times.total) phase = read_nanoseconds(stream);
    std::size_t samples = 0;
    stream >> samples;
    books.step_spans.resize(samples);
    for (double& span : books.step_spans) stream >> span;
    if (rank) books.all.device = *rank;
    all.push_back(books);
  }
}

void add_to(PhaseTimes& all, const PhaseTimes& sample) {
  for (std::size_t phase = 0; phase < kPhaseCount; ++phase) all.total[phase] += sample.total[phase];
  all.span += sample.span;
  all.steps += sample.steps;
}

}  // namespace

int sample_count(const StepOptions& options, const Warmup& warmup) {
  const double fill = Seconds(options.min_time) / warmup.per_sample;
  const int wanted = static_cast<int>(std::ceil(std::min<double>(fill, kMostSamples)));
  return std::max(options.min_samples, wanted);
}

void PhaseBooks::add(const std::vector<DeviceTimes>& sample) {
  if (mine_.empty()) mine_.resize(sample.size());
  for (std::size_t i = 0; i < sample.size(); ++i) {
    if (sample[i].times.steps == 0) continue;  // phases are off
    mine_[i].all.device = sample[i].device;
    add_to(mine_[i].all.times, sample[i].times);
    mine_[i].step_spans.push_back(Seconds(sample[i].times.span).count() / sample[i].times.steps);
  }
}

std::vector<DeviceBooks> PhaseBooks::gather(Bootstrap& bootstrap) const {
  std::string text;
  for (const DeviceBooks& books : mine_) text += text_of(books);
  std::vector<DeviceBooks> all;
  std::optional<int> rank;
  if (bootstrap.size() > 1) rank = 0;
  for (const std::string& theirs : bootstrap.all_gather(text)) {
    append_books(theirs, rank, all);
    if (rank) ++*rank;
  }
  std::erase_if(all, [](const DeviceBooks& books) { return books.all.times.steps == 0; });
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
