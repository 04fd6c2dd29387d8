// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace tandem {

// What ended a rank.
enum class FailureKind : std::uint32_t {
  kOwn,          // an error of its own
  kOutOfMemory,  // of its own, too
  kWaited,       // it waited for other ranks in vain
  kDiverged,     // ranks came for different collectives
  kLost,         // its connection to another rank broke
  kAborted,      // others gave up first
  kOther,        // something else between ranks
};

// What a rank's flight recorder held when it was read.
struct FlightRecord {
  struct Place {
    std::int64_t step = 0;  // from 1; 0: before the first
    std::string phase;      // empty: not told
  };
  // Times in nanoseconds of Clock; 0: that did not happen.
  struct Collective {
    std::uint64_t sequence = 0;  // 1: the first of the launch
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
    std::int64_t waited = 0;     // nanoseconds, of kWaited
    std::vector<int> awaited{};  // ranks that had not come; empty: not known
    std::vector<int> stopped{};  // ranks of its host that the kernel had stopped just then
    std::string call{};          // in which it happened, as far as known
    std::uint64_t sequence = 0;  // of that call; 0: it has none

    // Of its own, and not of what others did.
    [[nodiscard]] bool is_own() const {
      return kind == FailureKind::kOwn || kind == FailureKind::kOutOfMemory;
    }
  };

  int rank = 0;
  int world = 1;
  int pid = 0;
  std::string host{};
  Place enqueued{};           // what the caller's thread came to
  Place device{};             // what its device came to; no phase where the device does not tell
  std::uint64_t started = 0;  // largest sequence numbers of collectives
  std::uint64_t finished = 0;
  std::vector<Collective> collectives{};  // the latest ones, by sequence
  std::optional<Failure> failure{};
  bool ended = false;          // well
  std::int64_t ended_job = 0;  // when it, having failed, ended the others; nanoseconds of Clock

  // The collective of that number, where it is remembered.
  [[nodiscard]] const Collective* find(std::uint64_t sequence) const;
  // The one that was started and not finished, if any.
  [[nodiscard]] const Collective* in_hand() const;
  // Where the rank stood: what was thrown while a step was being enqueued was thrown there; else
  // the device's place counts.
  [[nodiscard]] const Place& place() const;
};

// Reads one file. Nothing where it is none of this version, or was not yet begun.
[[nodiscard]] std::optional<FlightRecord> read_flight_record(const std::filesystem::path& file);

// What to say of a folder with a file of another version, which nothing here can read: "flight
// records there are of version 1, ...". "" where there is none.
[[nodiscard]] std::string foreign_flight_records(const std::filesystem::path& folder);

// All in a folder, by rank. Files that are none are passed over; none where there is no folder.
[[nodiscard]] std::vector<FlightRecord> read_flight_records(const std::filesystem::path& folder);

// The file of a rank within a folder.
[[nodiscard]] std::filesystem::path flight_file(const std::filesystem::path& folder, int rank);

// "all_reduce #35 (4.0 MiB)".
[[nodiscard]] std::string to_string(const FlightRecord::Collective& collective);
// "step 12, phase backward".
[[nodiscard]] std::string to_string(const FlightRecord::Place& place);

// One line: "rank 1 (pid 4711 on node7) was in step 12, phase backward; all_reduce #35 (4.0 MiB)
// started, not finished".
[[nodiscard]] std::string describe(const FlightRecord& record);

}  // namespace tandem
