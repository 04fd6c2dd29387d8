// SPDX-License-Identifier: Apache-2.0
#include "bench/measurement.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <sstream>

namespace tandem::bench {
namespace {

constexpr int kMostSamples = 1'000'000;

Nanoseconds read_nanoseconds(std::istream& text) {
  Nanoseconds::rep count = 0;
  text >> count;
  return Nanoseconds(count);
}

std::string text_of(const DeviceBooks& books) {
  std::string text = fmt::format("{} {}", books.device, books.samples.size());
  for (const PhaseTimes& sample : books.samples) {
    text += fmt::format(" {} {}", sample.steps, sample.span.count());
    for (const Nanoseconds phase : sample.total) text += fmt::format(" {}", phase.count());
  }
  return text + '\n';
}

DeviceBooks books_from(const std::string& line) {
  std::istringstream text(line);
  DeviceBooks books;
  std::size_t samples = 0;
  text >> books.device >> samples;
  books.samples.resize(samples);
  for (PhaseTimes& sample : books.samples) {
    text >> sample.steps;
    sample.span = read_nanoseconds(text);
    for (Nanoseconds& phase : sample.total) phase = read_nanoseconds(text);
  }
  return books;
}

std::string text_of(const DeviceCollectives& books) {
  std::string text = fmt::format("{} {}", books.device, books.collectives.size());
  for (const CollectiveTimes& times : books.collectives) {
    text += fmt::format(" {} {} {}", times.size.value, times.total.count(), times.steps);
  }
  return text + '\n';
}

DeviceCollectives collectives_from(const std::string& line) {
  std::istringstream text(line);
  DeviceCollectives books;
  std::size_t collectives = 0;
  text >> books.device >> collectives;
  books.collectives.resize(collectives);
  for (CollectiveTimes& times : books.collectives) {
    text >> times.size.value;
    times.total = read_nanoseconds(text);
    text >> times.steps;
  }
  return books;
}

// A line per device and rank, in rank order. Ranks have a device each, and on several nodes count
// those of their own node: the job's are counted by rank.
template <class Book, class Read>
std::vector<Book> gather(Bootstrap& bootstrap, const std::vector<Book>& mine, Read read) {
  std::string text;
  for (const Book& book : mine) text += text_of(book);
  std::vector<Book> all;
  const std::vector<std::string> by_rank = bootstrap.all_gather(text);
  for (std::size_t rank = 0; rank < by_rank.size(); ++rank) {
    std::istringstream lines(by_rank[rank]);
    for (std::string line; std::getline(lines, line);) {
      all.push_back(read(line));
      if (by_rank.size() > 1) all.back().device = static_cast<int>(rank);
    }
  }
  return all;
}

}  // namespace

int sample_count(const StepOptions& options, const Warmup& warmup) {
  const double fill = Seconds(options.min_time) / warmup.per_sample;
  const int wanted = static_cast<int>(std::ceil(std::min<double>(fill, kMostSamples)));
  return std::max(options.min_samples, wanted);
}

void Books::add_sample(Strategy& strategy) {
  for (const DeviceTimes& sample : strategy.collect_phases()) add(sample);
  for (const DeviceCollectives& sample : strategy.collect_collectives()) add(sample);
}

void Books::add(const DeviceTimes& sample) {
  if (sample.times.steps == 0) return;  // phases are off
  const auto books = std::find_if(phases_.begin(), phases_.end(),
                                  [&](const auto& b) { return b.device == sample.device; });
  if (books != phases_.end()) {
    books->samples.push_back(sample.times);
  } else {
    phases_.push_back({sample.device, {sample.times}});
  }
}

void Books::add(const DeviceCollectives& sample) {
  if (sample.collectives.empty()) return;
  const auto found = std::find_if(collectives_.begin(), collectives_.end(),
                                  [&](const auto& b) { return b.device == sample.device; });
  if (found == collectives_.end()) return collectives_.push_back(sample);
  // Horovod fuses anew in every step: its collectives are told apart by their place in the step.
  const std::size_t most = std::max(found->collectives.size(), sample.collectives.size());
  found->collectives.resize(most);
  for (std::size_t i = 0; i < sample.collectives.size(); ++i) {
    CollectiveTimes& all = found->collectives[i];
    all.size = sample.collectives[i].size;
    all.total += sample.collectives[i].total;
    all.steps += sample.collectives[i].steps;
  }
}

std::vector<DeviceBooks> Books::gather_phases(Bootstrap& bootstrap) const {
  return gather(bootstrap, phases_, books_from);
}

std::vector<DeviceCollectives> Books::gather_collectives(Bootstrap& bootstrap) const {
  return gather(bootstrap, collectives_, collectives_from);
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
