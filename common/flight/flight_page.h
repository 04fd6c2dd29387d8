// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace tandem::flight {

constexpr std::uint64_t kMagic = 0x31544c46'4d444e54;  // "TNDMFLT1" in memory
constexpr std::uint32_t kVersion = 3;
constexpr std::size_t kRing = 64;  // collectives that are remembered
constexpr std::size_t kMostPhases = 32;
constexpr std::size_t kNameBytes = 16;  // of a phase or a collective, with its closing zero
constexpr std::size_t kHostBytes = 64;
constexpr std::size_t kErrorBytes = 1024;
constexpr std::size_t kMostNamed = 64;  // ranks of a kind that one may name in its failure

using Number = std::atomic<std::uint64_t>;
using Time = std::atomic<std::int64_t>;  // nanoseconds of Clock; 0: not yet
static_assert(Number::is_always_lock_free && Time::is_always_lock_free,
              "a page is read by other processes");

// One collective, on a cache line of its own: two threads write to neighbours.
struct alignas(64) Slot {
  Number sequence;  // 0: empty
  std::array<Number, kNameBytes / sizeof(std::uint64_t)> name;
  std::atomic<std::int64_t> bytes;
  Time enqueued;
  Time started;
  Time finished;
};

enum class Outcome : std::uint32_t { kRunning, kEnded, kFailed };

// What one rank's file holds. Plain data at fixed places; all zeros is a valid page but for its
// head, which is written once. A place is a step, counted from 1, times 256 plus the index of a
// phase.
struct Page {
  Number magic;  // last of the head to be written
  std::uint32_t version;
  std::int32_t rank;
  std::int32_t world;
  std::int32_t pid;
  std::array<char, kHostBytes> host;
  std::array<std::array<char, kNameBytes>, kMostPhases> phases;

  alignas(64) Number enqueued_place;  // by the caller's thread
  alignas(64) Number device_place;    // by the stream's worker; 0 where the device does not tell

  alignas(64) Number enqueued;  // largest sequence numbers so far
  alignas(64) Number started;
  Number finished;

  // Written once by whom `claimed` lets, and read once the outcome says so.
  alignas(64) std::atomic<std::uint32_t> outcome;
  std::atomic<std::uint32_t> claimed;
  std::uint32_t failure;  // a FailureKind
  std::uint32_t awaited_count;
  std::int64_t failed;        // nanoseconds of Clock
  std::int64_t waited;        // nanoseconds
  std::uint64_t in_sequence;  // of the call in which it failed; 0: no number
  std::array<char, kNameBytes> in_call;
  std::atomic<std::uint32_t> stopped_count;  // behind the outcome: looking takes a while
  std::array<std::int32_t, kMostNamed> awaited;
  std::array<std::int32_t, kMostNamed> stopped;
  std::array<char, kErrorBytes> error;

  Time ended_job;  // when this rank, having failed, ended the others too

  std::array<Slot, kRing> ring;  // sequence modulo kRing
};

}  // namespace tandem::flight
