// SPDX-License-Identifier: Apache-2.0
#include "bench/step/measurement.h"

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

std::string text_of(const DeviceCollectiveBooks& books) {
  std::string text = fmt::format("{} {}", books.device, books.samples.size());
  for (const std::vector<CollectiveTimes>& sample : books.samples) {
    text += fmt::format(" {}", sample.size());
    for (const CollectiveTimes& times : sample) {
      text += fmt::format(" {} {} {}", times.size.value, times.total.count(), times.steps);
    }
  }
  return text + '\n';
}

DeviceCollectiveBooks collectives_from(const std::string& line) {
  std::istringstream text(line);
  DeviceCollectiveBooks books;
  std::size_t samples = 0;
  text >> books.device >> samples;
  books.samples.resize(samples);
  for (std::vector<CollectiveTimes>& sample : books.samples) {
    std::size_t collectives = 0;
    text >> collectives;
    sample.resize(collectives);
    for (CollectiveTimes& times : sample) {
      text >> times.size.value;
      times.total = read_nanoseconds(text);
      text >> times.steps;
    }
  }
  return books;
}

// The book of a device, which begins with the device's first sample.
template <class Book>
Book& books_of(std::vector<Book>& all, int device) {
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Book& b) { return b.device == device; });
  return found != all.end() ? *found : all.emplace_back(Book{.device = device, .samples = {}});
}

// Writes a line per device and rank, in rank order. Ranks have a device each, and on several nodes
// count the devices of their own node: the job's devices are counted by rank.
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

// Adds nothing for devices with phases off.
void Books::add_sample(Strategy& strategy) {
  for (const DeviceTimes& sample : strategy.collect_phases()) {
    if (sample.times.steps == 0) continue;
    books_of(phases_, sample.device).samples.push_back(sample.times);
  }
  for (DeviceCollectives& sample : strategy.collect_collectives()) {
    if (sample.collectives.empty()) continue;
    books_of(collectives_, sample.device).samples.push_back(std::move(sample.collectives));
  }
}

std::vector<DeviceBooks> Books::gather_phases(Bootstrap& bootstrap) const {
  return gather(bootstrap, phases_, books_from);
}

std::vector<DeviceCollectiveBooks> Books::gather_collectives(Bootstrap& bootstrap) const {
  return gather(bootstrap, collectives_, collectives_from);
}

std::vector<MemoryUse> gather_memory(Bootstrap& bootstrap, Platform& platform, const Device* mine) {
  std::ostringstream text;
  const auto note = [&text](const Device& device) {
    const MemoryUse use = device.memory();
    text << use.capacity.value << ' ' << use.used.value << ' ' << use.peak.value << '\n';
  };
  if (mine != nullptr) {
    note(*mine);  // a process may not hold the other ranks' devices
  } else {
    for (int i = 0; i < platform.device_count(); ++i) note(platform.device(i));
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
