// SPDX-License-Identifier: Apache-2.0
#include "pretend/core/sharing.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <vector>

#include "pretend/core/device.h"
#include "pretend/core/memory.h"
#include "pretend/core/segments.h"
#include "pretend/core/settings.h"

namespace tandem::pretend::sharing {
namespace {

constexpr uint64_t kPage = 4096;

struct Shared {
  std::mutex mutex{};
  std::map<void*, int> files{};  // by the allocation's begin
};

Shared& shared() {
  static Shared* const shared = new Shared;
  return *shared;
}

std::atomic<bool> any{false};

// Pages that were touched, from memory of the process alone to the file.
void copy_touched(char* from, char* to, uint64_t bytes) {
  std::vector<unsigned char> touched((bytes + kPage - 1) / kPage);
  if (mincore(from, bytes, touched.data()) != 0) return;
  for (uint64_t page = 0; page < touched.size(); ++page) {
    if ((touched[page] & 1) != 0) {
      const uint64_t at = page * kPage;
      std::memcpy(to + at, from + at, std::min(kPage, bytes - at));
    }
  }
}

// Puts the allocation into a file and returns its descriptor; -1 where that fails.
int move_to_file(const memory::Place& place) {
  const int file = memfd_create("tandem-pretended", MFD_CLOEXEC);
  if (file < 0 || ftruncate(file, static_cast<off_t>(place.bytes)) != 0) {
    close(file);
    return -1;
  }
  const int access = PROT_READ | PROT_WRITE;
  void* const copy = mmap(nullptr, place.bytes, access, MAP_SHARED, file, 0);
  if (copy == MAP_FAILED) {
    close(file);
    return -1;
  }
  copy_touched(static_cast<char*>(place.begin), static_cast<char*>(copy), place.bytes);
  munmap(copy, place.bytes);
  if (mmap(place.begin, place.bytes, access, MAP_SHARED | MAP_FIXED, file, 0) == MAP_FAILED) {
    close(file);
    return -1;
  }
  return file;
}

}  // namespace

bool share(void* address, Handle* handle) {
  const memory::Place place = memory::find(address);
  if (place.device == memory::kHost) return false;
  const std::lock_guard lock(shared().mutex);
  const auto known = shared().files.find(place.begin);
  const int file = known != shared().files.end() ? known->second : move_to_file(place);
  if (file < 0) return false;
  any = true;
  shared().files[place.begin] = file;
  *handle = {getpid(), file, physical_of(place.device), place.bytes};
  return true;
}

void* open(const Handle& handle) {
  const std::vector<int>& gpus = settings().gpus;
  const auto device = std::find(gpus.begin(), gpus.end(), handle.physical);
  if (device == gpus.end()) return nullptr;
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/fd/%d", handle.process, handle.file);
  return segments::map_file(path, handle.bytes, static_cast<int>(device - gpus.begin()));
}

void forget(void* begin, uint64_t bytes) {
  if (!any) return;
  const std::lock_guard lock(shared().mutex);
  const auto known = shared().files.find(begin);
  if (known == shared().files.end()) return;
  mmap(begin, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  close(known->second);
  shared().files.erase(known);
}

}  // namespace tandem::pretend::sharing
