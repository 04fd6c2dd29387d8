// SPDX-License-Identifier: Apache-2.0
#include "pretend/core/memory.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <vector>

#include "pretend/core/segments.h"
#include "pretend/core/settings.h"
#include "pretend/core/sharing.h"

namespace tandem::pretend::memory {
namespace {

constexpr uint64_t kPage = 4096;
constexpr uint64_t kAlignment = 2 << 20;  // as cudaMalloc's large allocations

// The gaps and the allocations of one window. Addresses are offsets within it.
class Window {
 public:
  Window(char* begin, uint64_t bytes) : begin_(begin), bytes_(bytes) { gaps_[0] = bytes; }

  void* take(uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    if (bytes > free_) {  // other memory may have no place here
      return nullptr;
    }
    for (auto gap = gaps_.begin(); gap != gaps_.end(); ++gap) {
      if (gap->second >= bytes) return take_from(gap, bytes);
    }
    return nullptr;
  }

  bool give_back(char* address) {
    const std::lock_guard lock(mutex_);
    const auto taken = taken_.find(static_cast<uint64_t>(address - begin_));
    if (taken == taken_.end()) return false;
    sharing::forget(address, taken->second);
    madvise(address, taken->second, MADV_DONTNEED);
    mprotect(address, taken->second, PROT_NONE);
    add_gap(taken->first, taken->second);
    free_ += taken->second;
    taken_.erase(taken);
    return true;
  }

  bool charge(uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    const bool has_room = bytes <= free_;
    free_ -= has_room ? bytes : 0;
    return has_room;
  }

  void refund(uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    free_ += bytes;
  }

  Place find(const char* address, int device) {
    const std::lock_guard lock(mutex_);
    const auto offset = static_cast<uint64_t>(address - begin_);
    auto taken = taken_.upper_bound(offset);
    if (taken == taken_.begin() || (--taken)->first + taken->second <= offset) return {};
    return {device, begin_ + taken->first, taken->second};
  }

  Room room() {
    const std::lock_guard lock(mutex_);
    return {free_, bytes_};
  }

 private:
  using Parts = std::map<uint64_t, uint64_t>;

  void* take_from(Parts::iterator gap, uint64_t bytes) {
    const uint64_t offset = gap->first;
    const uint64_t left = gap->second - bytes;
    if (mprotect(begin_ + offset, bytes, PROT_READ | PROT_WRITE) != 0) return nullptr;
    gaps_.erase(gap);
    if (left > 0) gaps_[offset + bytes] = left;
    taken_[offset] = bytes;
    free_ -= bytes;
    return begin_ + offset;
  }

  void add_gap(uint64_t offset, uint64_t bytes) {
    const auto next = gaps_.find(offset + bytes);
    if (next != gaps_.end()) {
      bytes += next->second;
      gaps_.erase(next);
    }
    auto before = gaps_.lower_bound(offset);
    if (before != gaps_.begin() && (--before)->first + before->second == offset) {
      before->second += bytes;
      return;
    }
    gaps_[offset] = bytes;
  }

  char* begin_;
  uint64_t bytes_;
  uint64_t free_ = bytes_;
  std::mutex mutex_{};
  Parts gaps_{};
  Parts taken_{};
};

struct Pinned {
  std::mutex mutex{};
  std::map<uintptr_t, uint64_t> ranges{};
};

uint64_t rounded(uint64_t bytes, uint64_t to) { return (bytes + to - 1) / to * to; }

// All devices' windows, one after the other. Never destroyed: torch frees memory at exit.
struct Windows {
  char* begin = nullptr;
  uint64_t each = 0;
  std::vector<Window*> of{};
  Pinned pinned{};

  Windows() {
    each = rounded(static_cast<uint64_t>(settings().card->memory), kAlignment);
    const size_t count = settings().gpus.size();
    void* const all = count == 0 ? nullptr
                                 : mmap(nullptr, each * count, PROT_NONE,
                                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (all == MAP_FAILED) {
      std::fprintf(stderr,
                   "pretended GPUs: %zu GiB of addresses cannot be reserved: %s; raise the limit "
                   "(ulimit -v unlimited), or pretend fewer GPUs\n",
                   static_cast<size_t>(each * count >> 30), std::strerror(errno));
      return;
    }
    begin = static_cast<char*>(all);
    for (size_t device = 0; device < count; ++device) {
      of.push_back(new Window(begin + device * each, each));
    }
  }
};

Windows& windows() {
  static Windows* const windows = new Windows;
  return *windows;
}

int window_of(const void* address) {
  const Windows& all = windows();
  const auto offset = reinterpret_cast<uintptr_t>(address) - reinterpret_cast<uintptr_t>(all.begin);
  const uint64_t device = offset / all.each;
  return device < all.of.size() ? static_cast<int>(device) : kHost;
}

}  // namespace

void* allocate(int device, uint64_t bytes) {
  const uint64_t size = rounded(bytes == 0 ? 1 : bytes, bytes >= kAlignment ? kAlignment : kPage);
  const auto index = static_cast<size_t>(device);
  return index < windows().of.size() ? windows().of[index]->take(size) : nullptr;
}

bool release(void* address) {
  const int device = window_of(address);
  return device != kHost &&
         windows().of[static_cast<size_t>(device)]->give_back(static_cast<char*>(address));
}

bool charge(int device, uint64_t bytes) {
  const auto index = static_cast<size_t>(device);
  return index < windows().of.size() && windows().of[index]->charge(bytes);
}

void refund(int device, uint64_t bytes) {
  windows().of[static_cast<size_t>(device)]->refund(bytes);
}

int device_of(const void* address) {
  const int device = window_of(address);
  const bool may_be_elsewhere = device == kHost && segments::any.load(std::memory_order_relaxed);
  return may_be_elsewhere ? segments::find(address).device : device;
}

Place find(const void* address) {
  const int device = window_of(address);
  if (device == kHost && segments::any) {
    const Place place = segments::find(address);
    if (place.bytes != 0) return place;
  }
  if (device != kHost) {
    return windows().of[static_cast<size_t>(device)]->find(static_cast<const char*>(address),
                                                           device);
  }
  Pinned& pinned = windows().pinned;
  const std::lock_guard lock(pinned.mutex);
  const auto at = reinterpret_cast<uintptr_t>(address);
  auto range = pinned.ranges.upper_bound(at);
  if (range == pinned.ranges.begin() || (--range)->first + range->second <= at) return {};
  return {kHost, reinterpret_cast<void*>(range->first), range->second};
}

void* allocate_pinned(uint64_t bytes) {
  void* const address = std::aligned_alloc(kPage, rounded(bytes == 0 ? 1 : bytes, kPage));
  if (address != nullptr) note_pinned(address, bytes);
  return address;
}

bool release_pinned(void* address) {
  if (!forget_pinned(address)) return false;
  std::free(address);
  return true;
}

void note_pinned(void* address, uint64_t bytes) {
  const std::lock_guard lock(windows().pinned.mutex);
  windows().pinned.ranges[reinterpret_cast<uintptr_t>(address)] = bytes;
}

bool forget_pinned(void* address) {
  const std::lock_guard lock(windows().pinned.mutex);
  return windows().pinned.ranges.erase(reinterpret_cast<uintptr_t>(address)) > 0;
}

Room room(int device) {
  const auto index = static_cast<size_t>(device);
  return index < windows().of.size() ? windows().of[index]->room() : Room{};
}

}  // namespace tandem::pretend::memory
