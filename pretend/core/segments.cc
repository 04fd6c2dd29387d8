// SPDX-License-Identifier: Apache-2.0
#include "pretend/core/segments.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <map>
#include <mutex>

namespace tandem::pretend::segments {

std::atomic<bool> any{false};

namespace {

struct Mapped {
  uint64_t bytes;
  int device;
  Memory* memory;  // nullptr: another process's
};

struct Segments {
  std::mutex mutex{};
  std::map<uintptr_t, Mapped> mapped{};
};

Segments& segments() {
  static Segments* const segments = new Segments;
  return *segments;
}

void let_go_locked(Memory* memory) {
  if (memory != nullptr && --memory->owners == 0) {
    memory::refund(memory->device, memory->bytes);
    delete memory;
  }
}

void note(void* address, const Mapped& mapped) {
  any = true;
  const std::lock_guard lock(segments().mutex);
  segments().mapped[reinterpret_cast<uintptr_t>(address)] = mapped;
}

}  // namespace

Memory* make(int device, uint64_t bytes) {
  return memory::charge(device, bytes) ? new Memory{device, bytes} : nullptr;
}

void let_go(Memory* memory) {
  const std::lock_guard lock(segments().mutex);
  let_go_locked(memory);
}

void* reserve(uint64_t bytes) {
  void* const address =
      mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return address == MAP_FAILED ? nullptr : address;
}

bool give_up(void* address, uint64_t bytes) { return munmap(address, bytes) == 0; }

bool map(void* address, Memory* memory) {
  if (mprotect(address, memory->bytes, PROT_READ | PROT_WRITE) != 0) return false;
  {
    const std::lock_guard lock(segments().mutex);
    ++memory->owners;
  }
  note(address, {memory->bytes, memory->device, memory});
  return true;
}

bool unmap(void* address, uint64_t bytes) {
  const std::lock_guard lock(segments().mutex);
  auto& mapped = segments().mapped;
  const auto begin = reinterpret_cast<uintptr_t>(address);
  auto one = mapped.lower_bound(begin);
  while (one != mapped.end() && one->first < begin + bytes) {
    let_go_locked(one->second.memory);
    one = mapped.erase(one);
  }
  madvise(address, bytes, MADV_DONTNEED);
  return mprotect(address, bytes, PROT_NONE) == 0;
}

void* map_file(const char* path, uint64_t bytes, int device) {
  const int file = open(path, O_RDWR | O_CLOEXEC);
  if (file < 0) return nullptr;
  void* const address = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (address == MAP_FAILED) return nullptr;
  note(address, {bytes, device, nullptr});
  return address;
}

memory::Place find(const void* address) {
  const std::lock_guard lock(segments().mutex);
  const auto& mapped = segments().mapped;
  const auto at = reinterpret_cast<uintptr_t>(address);
  auto one = mapped.upper_bound(at);
  if (one == mapped.begin() || (--one)->first + one->second.bytes <= at) return {};
  return {one->second.device, reinterpret_cast<void*>(one->first), one->second.bytes};
}

}  // namespace tandem::pretend::segments
