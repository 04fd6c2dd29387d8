// SPDX-License-Identifier: Apache-2.0
#include "pretend/nccl/meeting.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <utility>

#include "pretend/core/settings.h"

namespace tandem::pretend {
namespace {

constexpr uint64_t kSlots = 8;  // deposits that a rank may be ahead of the slowest reader
constexpr std::chrono::minutes kDeadline{10};

}  // namespace

// The file: this header, then each rank's progress, then each rank's slots.
struct MeetingLayout {
  std::atomic<uint32_t> joined;
  std::atomic<uint32_t> changes;  // counts whatever somebody may wait for; a futex
};

namespace {

struct alignas(64) Progress {
  std::atomic<uint64_t> deposited;
  std::atomic<uint64_t> read;
};

constexpr uint64_t kHeader = 4096;

Progress& progress_of(MeetingLayout* layout, int rank) {
  auto* const first = reinterpret_cast<Progress*>(reinterpret_cast<char*>(layout) + kHeader);
  return first[rank];
}

uint64_t progress_bytes(int ranks) {
  const uint64_t bytes = static_cast<uint64_t>(ranks) * sizeof(Progress);
  return (bytes + kHeader - 1) / kHeader * kHeader;
}

uint64_t bytes_for(int ranks) {
  return kHeader + progress_bytes(ranks) + static_cast<uint64_t>(ranks) * kSlots * kRealBytes;
}

char* slot_of(MeetingLayout* layout, int ranks, int rank, uint64_t number) {
  const uint64_t slot = static_cast<uint64_t>(rank) * kSlots + number % kSlots;
  return reinterpret_cast<char*>(layout) + kHeader + progress_bytes(ranks) + slot * kRealBytes;
}

void announce(MeetingLayout* layout) {
  layout->changes.fetch_add(1, std::memory_order_release);
  syscall(SYS_futex, &layout->changes, FUTEX_WAKE, INT32_MAX, nullptr, nullptr, 0);
}

void sleep_for_change(MeetingLayout* layout, uint32_t seen) {
  const timespec patience{0, 50'000'000};
  syscall(SYS_futex, &layout->changes, FUTEX_WAIT, seen, &patience, nullptr, 0);
}

// Maps the file, which the first rank makes: whoever holds the lock and finds it short.
void* map_file(const std::string& path, uint64_t bytes) {
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) {
    return MAP_FAILED;
  }
  flock(file, LOCK_EX);
  struct stat facts {};
  fstat(file, &facts);
  const bool is_short = static_cast<uint64_t>(facts.st_size) < bytes;
  // Pages that the file system promises now cannot be missing at the first touch.
  const int failed = is_short ? posix_fallocate(file, 0, static_cast<off_t>(bytes)) : 0;
  flock(file, LOCK_UN);
  void* const mapped =
      failed != 0 ? MAP_FAILED : mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (failed != 0) {
    errno = failed;
  }
  return mapped;
}

std::string path_of(const std::string& name) { return "/dev/shm/" + name; }

}  // namespace

std::unique_ptr<Meeting> Meeting::join(const std::string& name, int rank, int ranks) {
  const uint64_t bytes = bytes_for(ranks);
  void* const mapped = map_file(path_of(name), bytes);
  if (mapped == MAP_FAILED) {
    std::fprintf(stderr,
                 "pretended libnccl.so.2: %d ranks cannot meet in %s (%llu KiB): %s; free space in "
                 "/dev/shm\n",
                 ranks, path_of(name).c_str(), static_cast<unsigned long long>(bytes >> 10),
                 std::strerror(errno));
    return nullptr;
  }
  auto* const layout = static_cast<MeetingLayout*>(mapped);
  std::unique_ptr<Meeting> meeting(new Meeting(name, rank, ranks, layout, bytes));
  // Nobody else will look for the file once all have it.
  if (layout->joined.fetch_add(1) + 1 == static_cast<uint32_t>(ranks)) {
    unlink(path_of(name).c_str());
  }
  announce(layout);
  return meeting;
}

Meeting::Meeting(std::string name, int rank, int ranks, MeetingLayout* layout, uint64_t bytes)
    : name_(std::move(name)), rank_(rank), ranks_(ranks), layout_(layout), bytes_(bytes) {}

Meeting::~Meeting() { munmap(layout_, bytes_); }

template <typename Condition>
bool Meeting::wait_until(const char* what, Condition condition) {
  const auto deadline = std::chrono::steady_clock::now() + kDeadline;
  while (!condition()) {
    const uint32_t seen = layout_->changes.load(std::memory_order_acquire);
    if (is_aborted()) {
      return false;
    }
    if (std::chrono::steady_clock::now() > deadline) {
      std::fprintf(stderr,
                   "pretended libnccl.so.2: rank %d of %d waited 10 minutes for %s; look for the "
                   "rank that is missing or has failed\n",
                   rank_, ranks_, what);
      unlink(path_of(name_).c_str());
      return false;
    }
    if (!condition()) {
      sleep_for_change(layout_, seen);
    }
  }
  return true;
}

bool Meeting::wait_for_all() {
  return wait_until("the other ranks to join",
                    [&] { return layout_->joined.load() >= static_cast<uint32_t>(ranks_); });
}

bool Meeting::has_room() const {
  for (int rank = 0; rank < ranks_; ++rank) {
    if (progress_of(layout_, rank).read.load(std::memory_order_acquire) + kSlots <= deposits_) {
      return false;
    }
  }
  return true;
}

bool Meeting::wait_for_room() {
  return wait_until("the other ranks to read values", [&] { return has_room(); });
}

uint64_t Meeting::deposit(const void* bytes, uint64_t count) {
  const uint64_t number = deposits_++;
  std::memcpy(slot_of(layout_, ranks_, rank_, number), bytes, count);
  progress_of(layout_, rank_).deposited.store(deposits_, std::memory_order_release);
  announce(layout_);
  return number;
}

bool Meeting::is_complete(uint64_t number) const {
  for (int rank = 0; rank < ranks_; ++rank) {
    if (progress_of(layout_, rank).deposited.load(std::memory_order_acquire) <= number) {
      return false;
    }
  }
  return true;
}

bool Meeting::wait_for(uint64_t number) {
  return wait_until("values of the other ranks", [&] { return is_complete(number); });
}

const char* Meeting::deposited_by(int rank, uint64_t number) const {
  return slot_of(layout_, ranks_, rank, number);
}

void Meeting::note_read(uint64_t number) {
  progress_of(layout_, rank_).read.store(number + 1, std::memory_order_release);
  announce(layout_);
}

void Meeting::abort() {
  aborted_.store(true, std::memory_order_release);
  announce(layout_);
}

bool Meeting::is_aborted() const { return aborted_.load(std::memory_order_acquire); }

std::string new_meeting_name() {
  std::array<unsigned char, 8> random{};
  if (getrandom(random.data(), random.size(), 0) != static_cast<ssize_t>(random.size())) {
    const auto now = std::chrono::steady_clock::now().time_since_epoch().count() ^ getpid();
    std::memcpy(random.data(), &now, random.size());
  }
  std::string name = "tandem-pretend-";
  for (const unsigned char byte : random) {
    std::array<char, 3> digits{};
    std::snprintf(digits.data(), digits.size(), "%02x", byte);
    name += digits.data();
  }
  return name;
}

}  // namespace tandem::pretend
