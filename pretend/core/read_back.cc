// SPDX-License-Identifier: Apache-2.0
#include "pretend/core/read_back.h"

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
};
std::array<Launches, kDevices> launches;
std::atomic<int64_t> reads{0};
std::atomic<bool> told{false};

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

std::atomic<uint64_t>& launches_of(int device) {
  return launches[static_cast<size_t>(device) % kDevices].count;
}

bool is_known(int device, uintptr_t address, uint64_t bytes) {
  const std::lock_guard lock(known().mutex);
  auto range = known().ranges.upper_bound(address);
  if (range == known().ranges.begin()) {
    return false;
  }
  --range;
  return address + bytes <= range->first + range->second.bytes &&
         range->second.launches == launches_of(device).load(std::memory_order_relaxed);
}

}  // namespace

void note_launch(int device) { launches_of(device).fetch_add(1, std::memory_order_relaxed); }

void note_known(int device, const void* address, uint64_t bytes) {
  const std::lock_guard lock(known().mutex);
  if (known().ranges.size() > kKnownRanges) {
    known().ranges.clear();
  }
  known().ranges[reinterpret_cast<uintptr_t>(address)] = {
      bytes, launches_of(device).load(std::memory_order_relaxed)};
}

void note_read(int device, const void* address, uint64_t bytes) {
  if (!is_known(device, reinterpret_cast<uintptr_t>(address), bytes)) {
    reads.fetch_add(1, std::memory_order_relaxed);
  }
}

int64_t count() { return reads.load(); }

void forget_parent() {
  for (Launches& of_device : launches) {
    of_device.count = 0;
  }
  reads = 0;
  told = false;
  known_of_process() = new Known;  // another thread may have been changing the parent's
}

void report() {
  const int64_t found = count();
  if (found > 0 && !told.exchange(true)) {
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
