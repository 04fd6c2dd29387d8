// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <boost/noncopyable.hpp>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/base/error.h"

namespace tandem {

// The content of one rank's file: plain data at fixed offsets. All zeros is a valid page but for
// the head, which is written once. A place is a step, counted from 1, times 256 plus the index of a
// phase.
struct FlightPage {
  static constexpr std::uint64_t kMagic = 0x31544c46'4d444e54;  // "TNDMFLT1" in memory
  static constexpr std::uint32_t kVersion = 3;
  static constexpr std::size_t kRing = 64;  // remembered collectives
  static constexpr std::size_t kMostPhases = 32;
  // Length of a phase's or collective's name, closing zero included.
  static constexpr std::size_t kNameBytes = 16;
  static constexpr std::size_t kHostBytes = 64;
  static constexpr std::size_t kErrorBytes = 1024;
  static constexpr std::size_t kMostNamed = 64;  // most ranks in each list of a failure

  using Number = std::atomic<std::uint64_t>;
  using Time = std::atomic<std::int64_t>;  // nanoseconds of Clock; 0: did not happen yet
  static_assert(Number::is_always_lock_free && Time::is_always_lock_free,
                "a page is read by other processes");

  enum class Outcome : std::uint32_t { kRunning, kEnded, kFailed };

  // One collective, on a cache line of its own, since two threads write to neighbouring slots.
  struct alignas(64) Slot {
    Number sequence;  // 0: an empty slot
    std::array<Number, kNameBytes / sizeof(std::uint64_t)> name;
    std::atomic<std::int64_t> bytes;
    Time enqueued;
    Time started;
    Time finished;
  };

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

// The cause of a rank's end.
enum class FailureKind : std::uint32_t {
  kOwn,          // an error of the rank itself
  kOutOfMemory,  // out-of-memory of the rank itself
  kWaited,       // the rank waited for other ranks past its deadline
  kDiverged,     // ranks enqueued different collectives
  kLost,         // the connection to another rank broke
  kAborted,      // another rank gave up first
  kOther,        // any other failure between ranks
};

// The content of a rank's flight recorder at the time of reading.
struct FlightRecord {
  struct Place {
    std::int64_t step = 0;  // counted from 1; 0: before the first step
    std::string phase;      // empty: not known
  };
  // One collective. Times are in nanoseconds of Clock; 0: the event did not happen.
  struct Collective {
    std::uint64_t sequence = 0;  // 1: the launch's first collective
    std::string name;
    std::int64_t bytes = 0;
    std::int64_t enqueued = 0;
    std::int64_t started = 0;
    std::int64_t finished = 0;
  };
  struct Failure {
    FailureKind kind = FailureKind::kOwn;
    std::string text{};
    std::int64_t at = 0;         // nanoseconds of Clock
    std::int64_t waited = 0;     // nanoseconds that a kWaited rank waited
    std::vector<int> awaited{};  // ranks that had not come; empty: not known
    std::vector<int> stopped{};  // ranks of this host that the kernel had stopped at that time
    std::string call{};          // the failed call; empty: not known
    std::uint64_t sequence = 0;  // sequence number of the failed call; 0: no number

    // Whether the rank failed by itself and not because of another rank.
    [[nodiscard]] bool is_own() const {
      return kind == FailureKind::kOwn || kind == FailureKind::kOutOfMemory;
    }
  };

  int rank = 0;
  int world = 1;
  int pid = 0;
  std::string host{};
  Place enqueued{};           // last place of the caller's thread
  Place device{};             // last place of the device; no phase where the device reports none
  std::uint64_t started = 0;  // largest sequence numbers of collectives
  std::uint64_t finished = 0;
  std::vector<Collective> collectives{};  // the latest collectives, by sequence
  std::optional<Failure> failure{};
  bool ended = false;          // the rank ended without a failure
  std::int64_t ended_job = 0;  // when this failed rank ended the job, in nanoseconds of Clock

  // The collective of number `sequence`; null where the ring no longer holds it.
  [[nodiscard]] const Collective* find(std::uint64_t sequence) const;
  // The collective that was started and not finished; null where there is none.
  [[nodiscard]] const Collective* in_hand() const;
  // The place at which the rank stopped: the caller's place for an error thrown while a step was
  // being enqueued, else the device's place.
  [[nodiscard]] const Place& place() const;
};

// Reads one file. Nothing where the file has another version, or was not yet begun.
[[nodiscard]] std::optional<FlightRecord> read_flight_record(const std::filesystem::path& file);

// A message for a folder that holds a file of another version, which this version cannot read: "its
// flight records are of version 1, ...". "" where there is no such file.
[[nodiscard]] std::string foreign_flight_records(const std::filesystem::path& folder);

// All flight records in a folder, by rank. Other files are passed over; empty where there is no
// folder.
[[nodiscard]] std::vector<FlightRecord> read_flight_records(const std::filesystem::path& folder);

// The path of a rank's file within a folder.
[[nodiscard]] std::filesystem::path flight_file(const std::filesystem::path& folder, int rank);

// A collective as text: "all_reduce #35 (4.0 MiB)".
[[nodiscard]] std::string to_string(const FlightRecord::Collective& collective);
// A place as text: "step 12, phase backward".
[[nodiscard]] std::string to_string(const FlightRecord::Place& place);

// A description in one line: "rank 1 (pid 4711 on node7) was in step 12, phase backward; all_reduce
// #35 (4.0 MiB) started, not finished".
[[nodiscard]] std::string describe(const FlightRecord& record);

// Records a rank's place in a mapped file, so that other processes can read it after the rank has
// died: the kernel keeps the stores of a process that ends in any way. A note is a few plain
// stores, without system calls or locks, and so may be taken in timed steps.
//
// The caller's thread records enqueued work and the end; one worker at a time records a stream's
// progress. The caller's thread and the worker may record at the same time.
class FlightRecorder : boost::noncopyable {
 public:
  struct Identity {
    int rank = 0;
    int world = 1;
    std::vector<std::string> phases{};  // names by index, at most 32 of at most 15 characters
  };

  // Replaces the file by a new one. Throws a failure where the file cannot be made.
  FlightRecorder(const std::filesystem::path& file, const Identity& identity);
  ~FlightRecorder();

  // Records that the caller's thread is at phase `phase`, an index, of `step`; 0: before the first
  // step.
  void enqueued(std::int64_t step, std::size_t phase) noexcept;
  // Records that the device is at phase `phase` of `step`.
  void reached(std::int64_t step, std::size_t phase) noexcept;

  // Records a collective with its number, counted from 1, a name of at most 15 characters, and its
  // bytes.
  void collective_enqueued(std::uint64_t sequence, const char* name, std::int64_t bytes) noexcept;
  void collective_started(std::uint64_t sequence, const char* name, std::int64_t bytes) noexcept;
  void collective_finished(std::uint64_t sequence) noexcept;

  // Records the error that ends this rank, from any thread; the first error counts. Where other
  // ranks are the cause, the stopped ranks of this host are recorded as well.
  void failed(const Error& error) noexcept;
  // Records that this rank, after its failure, ends the job for the others.
  void ends_job() noexcept;
  // Records a normal end; does nothing after a failure.
  void ended() noexcept;

 private:
  [[nodiscard]] FlightPage::Slot& slot_of(std::uint64_t sequence) noexcept;

  const std::filesystem::path folder_;
  FlightPage* page_ = nullptr;
};

}  // namespace tandem
