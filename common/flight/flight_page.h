// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace tandem::flight {

constexpr std::uint64_t kMagic = 0x31544c46'4d444e54;  // "TNDMFLT1" in memory
constexpr std::uint32_t kVersion = 3;
constexpr std::size_t kRing = 64;  // remembered collectives
constexpr std::size_t kMostPhases = 32;
// Length of a phase's or collective's name, closing zero included.
constexpr std::size_t kNameBytes = 16;
constexpr std::size_t kHostBytes = 64;
constexpr std::size_t kErrorBytes = 1024;
constexpr std::size_t kMostNamed = 64;  // most ranks in each list of a failure

using Number = std::atomic<std::uint64_t>;
using Time = std::atomic<std::int64_t>;  // nanoseconds of Clock; 0: did not happen yet
static_assert(Number::is_always_lock_free && Time::is_always_lock_free,
              "a page is read by other processes");

// One collective, on a cache line of its own, since two threads write to neighbouring slots.
struct alignas(64) Slot {
  Number sequence;  // 0: an empty slot
  std::array<Number, kNameBytes / sizeof(std::uint64_t)> name;
  std::atomic<std::int64_t> bytes;
  Time enqueued;
  Time started;
  Time finished;
};

enum class Outcome : std::uint32_t { kRunning, kEnded, kFailed };

// The content of one rank's file: plain data at fixed offsets. All zeros is a valid page but for
// the head, which is written once. A place is a step, counted from 1, times 256 plus the index of a
// phase.
struct Page {
  Number magic;  // written last of the head
  std::uint32_t version;
  std::int32_t rank;
  std::int32_t world;
  std::int32_t pid;
  std::array<char, kHostBytes> host;
  std::array<std::array<char, kNameBytes>, kMostPhases> phases;

  alignas(64) Number enqueued_place;  // written by the caller's thread
  // Written by the stream's worker; 0 where the device reports none.
  alignas(64) Number device_place;

  alignas(64) Number enqueued;  // this and the next two: largest sequence numbers so far
  alignas(64) Number started;
  Number finished;

  // Written once by the thread that wins `claimed`, and read only after the outcome is set.
  alignas(64) std::atomic<std::uint32_t> outcome;
  std::atomic<std::uint32_t> claimed;
  std::uint32_t failure;  // a FailureKind
  std::uint32_t awaited_count;
  std::int64_t failed;        // nanoseconds of Clock
  std::int64_t waited;        // nanoseconds
  std::uint64_t in_sequence;  // sequence number of the failed call; 0: no number
  std::array<char, kNameBytes> in_call;
  // Set after the outcome, since finding stopped ranks takes a while.
  std::atomic<std::uint32_t> stopped_count;
  std::array<std::int32_t, kMostNamed> awaited;
  std::array<std::int32_t, kMostNamed> stopped;
  std::array<char, kErrorBytes> error;

  Time ended_job;  // when this rank, after its failure, ended the job

  std::array<Slot, kRing> ring;  // indexed by sequence modulo kRing
};

}  // namespace tandem::flight
