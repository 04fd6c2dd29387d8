// SPDX-License-Identifier: Apache-2.0
#include "pretend/core/read_back.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <map>
#include <mutex>

namespace tandem::pretend::read_back {
namespace {

constexpr size_t kDevices = 64;  // devices beyond share a counter: then more counts as unknown
constexpr size_t kKnownRanges = 4096;

struct alignas(64) Launches {
  std::atomic<uint64_t> count{0};
  std::atomic<uint64_t> when_known{~uint64_t{0}};  // the count at which bytes became known last
};
std::array<Launches, kDevices> launches;
std::atomic<int64_t> reads{0};
std::atomic<bool> has_reported{false};

struct Range {
  uint64_t bytes = 0;
  uint64_t launches = 0;
};

struct Known {
  std::mutex mutex{};
  std::map<uintptr_t, Range> ranges{};
};

Known*& known_of_process() {
  static Known* known = new Known;
  return known;
}

Known& known() { return *known_of_process(); }

Launches& launches_of(int device) { return launches[static_cast<size_t>(device) % kDevices]; }

uint64_t launched(int device) { return launches_of(device).count.load(std::memory_order_relaxed); }

// Without a lock: large copies in a step cost no more than that.
bool nothing_known(int device) {
  return launches_of(device).when_known.load(std::memory_order_relaxed) != launched(device);
}

// Takes the bytes out of the ranges that they touch; with the mutex held.
void cut(uintptr_t begin, uintptr_t end) {
  auto& ranges = known().ranges;
  auto range = ranges.upper_bound(begin);
  if (range != ranges.begin()) --range;
  while (range != ranges.end() && range->first < end) {
    const auto [first, was] = *range;
    const uintptr_t last = first + was.bytes;
    if (last <= begin) {
      ++range;
      continue;
    }
    range = ranges.erase(range);
    if (first < begin) ranges[first] = {begin - first, was.launches};
    if (last > end) ranges[end] = {last - end, was.launches};
  }
}

}  // namespace

void note_launch(int device) { launches_of(device).count.fetch_add(1, std::memory_order_relaxed); }

void note_known(int device, const void* address, uint64_t bytes) {
  const auto begin = reinterpret_cast<uintptr_t>(address);
  const std::lock_guard lock(known().mutex);
  if (known().ranges.size() > kKnownRanges) known().ranges.clear();
  cut(begin, begin + bytes);
  const uint64_t now = launched(device);
  known().ranges[begin] = {bytes, now};
  launches_of(device).when_known.store(now, std::memory_order_relaxed);
}

void note_unknown(int device, const void* address, uint64_t bytes) {
  if (nothing_known(device)) return;
  const auto begin = reinterpret_cast<uintptr_t>(address);
  const std::lock_guard lock(known().mutex);
  cut(begin, begin + bytes);
}

uint64_t known_bytes(int device, const void* address, uint64_t bytes) {
  if (nothing_known(device)) return 0;
  const auto begin = reinterpret_cast<uintptr_t>(address);
  const uintptr_t end = begin + bytes;
  const uint64_t now = launched(device);
  const std::lock_guard lock(known().mutex);
  uintptr_t at = begin;
  while (at < end) {  // several neighbours may hold the bytes together
    auto range = known().ranges.upper_bound(at);
    if (range == known().ranges.begin() || (--range)->second.launches != now ||
        range->first + range->second.bytes <= at) {
      break;
    }
    at = range->first + range->second.bytes;
  }
  return std::min(at, end) - begin;
}

void note_read(int device, const void* address, uint64_t bytes) {
  if (bytes > 0 && known_bytes(device, address, 1) == 0) {
    reads.fetch_add(1, std::memory_order_relaxed);
  }
}

int64_t count() { return reads.load(); }

void forget_parent() {
  for (Launches& of_device : launches) {
    of_device.count = 0;
    of_device.when_known = ~uint64_t{0};
  }
  reads = 0;
  has_reported = false;
  known_of_process() = new Known;  // another thread may have been changing the parent's
}

void report() {
  const int64_t found = count();
  if (found > 0 && !has_reported.exchange(true)) {
    std::fprintf(
        stderr,
        "pretended GPUs: %lld %s read back from pretended devices; control flow may differ\n",
        static_cast<long long>(found), found == 1 ? "value was" : "values were");
  }
}

}  // namespace tandem::pretend::read_back

extern "C" {

// A program can ask by this name how many values it has read back so far.
int64_t tandem_pretend_read_back() { return tandem::pretend::read_back::count(); }
}
