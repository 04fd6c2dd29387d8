// SPDX-License-Identifier: Apache-2.0
#include "pretend/nccl/meeting.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

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

}  // namespace

std::unique_ptr<Meeting> Meeting::join(const std::string& name, int rank, int ranks) {
  const uint64_t bytes = bytes_for(ranks);
  auto file = std::make_unique<MeetingFile>(name, bytes);
  if (file->memory() == nullptr) {
    std::fprintf(stderr,
                 "pretended libnccl.so.2: %d ranks cannot meet in %s (%llu KiB): %s; free space in "
                 "/dev/shm\n",
                 ranks, file->path().c_str(), static_cast<unsigned long long>(bytes >> 10),
                 std::strerror(file->error()));
    file->unlink();
    return nullptr;
  }
  std::unique_ptr<Meeting> meeting(new Meeting(std::move(file), rank, ranks));
  // Nobody else will look for the file once all have it.
  if (meeting->layout_->joined.fetch_add(1) + 1 == static_cast<uint32_t>(ranks)) {
    meeting->file_->unlink();
  }
  announce(meeting->layout_);
  return meeting;
}

Meeting::Meeting(std::unique_ptr<MeetingFile> file, int rank, int ranks)
    : file_(std::move(file)),
      rank_(rank),
      ranks_(ranks),
      layout_(static_cast<MeetingLayout*>(file_->memory())) {}

template <typename Condition>
bool Meeting::wait_until(const char* what, Condition condition) {
  const auto deadline = std::chrono::steady_clock::now() + kDeadline;
  while (!condition()) {
    const uint32_t seen = layout_->changes.load(std::memory_order_acquire);
    if (is_aborted()) return false;
    if (std::chrono::steady_clock::now() > deadline) {
      std::fprintf(stderr,
                   "pretended libnccl.so.2: rank %d of %d waited 10 minutes for %s; look for the "
                   "rank that is missing or has failed\n",
                   rank_, ranks_, what);
      file_->unlink();
      return false;
    }
    if (!condition()) sleep_for_change(layout_, seen);
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

}  // namespace tandem::pretend
