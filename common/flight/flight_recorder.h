// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "common/base/error.h"
#include "common/flight/flight_page.h"

namespace tandem {

// Keeps where a rank is in a mapped file, so that others can read it once the rank cannot speak any
// more: the kernel keeps what was stored whatever becomes of the process. Notes are a few plain
// stores, without system calls or locks, and may ride on timed steps.
//
// The caller's thread tells of what is enqueued and of the end, one worker at a time of what a
// stream does; the two may do so at once.
class FlightRecorder {
 public:
  struct Identity {
    int rank = 0;
    int world = 1;
    std::vector<std::string> phases{};  // names by index, of 15 characters and 32 at most
  };

  // Makes the file anew. Throws a failure where it cannot be made.
  FlightRecorder(const std::filesystem::path& file, const Identity& identity);
  ~FlightRecorder();
  FlightRecorder(const FlightRecorder&) = delete;
  FlightRecorder& operator=(const FlightRecorder&) = delete;

  // The caller's thread is at `phase`, by index, of `step`; 0: before the first.
  void enqueued(std::int64_t step, std::size_t phase) noexcept;
  // The device is.
  void reached(std::int64_t step, std::size_t phase) noexcept;

  // A collective, by its number from 1 on, a name of 15 characters at most, and its bytes.
  void collective_enqueued(std::uint64_t sequence, const char* name, std::int64_t bytes) noexcept;
  void collective_started(std::uint64_t sequence, const char* name, std::int64_t bytes) noexcept;
  void collective_finished(std::uint64_t sequence) noexcept;

  // What ends this rank, by whatever thread finds it. The first one counts. Where others are the
  // cause, those of this host that are stopped are noted with it.
  void failed(const Error& error) noexcept;
  // This rank, having failed, ends the job for the others.
  void ends_job() noexcept;
  // All went well; nothing after a failure.
  void ended() noexcept;

 private:
  [[nodiscard]] flight::Slot& slot_of(std::uint64_t sequence) noexcept;

  const std::filesystem::path folder_;
  flight::Page* page_ = nullptr;
};

}  // namespace tandem
