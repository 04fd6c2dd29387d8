// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "common/base/error.h"
#include "common/flight/flight_record.h"

namespace tandem {

// Records a rank's place in a mapped file, so that other processes can read it after the rank has
// died: the kernel keeps the stores of a process that ends in any way. A note is a few plain
// stores, without system calls or locks, and so may be taken in timed steps.
//
// The caller's thread records enqueued work and the end; one worker at a time records a stream's
// progress. The caller's thread and the worker may record at the same time.
class FlightRecorder {
 public:
  struct Identity {
    int rank = 0;
    int world = 1;
    std::vector<std::string> phases{};  // names by index, at most 32 of at most 15 characters
  };

  // Replaces the file by a new one. Throws a failure where the file cannot be made.
  FlightRecorder(const std::filesystem::path& file, const Identity& identity);
  ~FlightRecorder();
  FlightRecorder(const FlightRecorder&) = delete;
  FlightRecorder& operator=(const FlightRecorder&) = delete;

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
