// SPDX-License-Identifier: Apache-2.0
//
// Where the ranks of a pretended communicator meet, in threads or in processes of one machine: a
// file in /dev/shm. Small values are put down there by each rank and read by all, so that what
// programs decide by them is right. Nobody waits except for values, or for the others to join.
#pragma once

#include <atomic>
#include <boost/noncopyable.hpp>
#include <cstdint>
#include <memory>
#include <string>

#include "pretend/nccl/meeting_file.h"

namespace tandem::pretend {

struct MeetingLayout;

// One rank's part of a meeting. Deposits are numbered; every rank makes the same ones in the same
// order. A rank's calls come from one thread at a time, abort() from any.
class Meeting : boost::noncopyable {
 public:
  // nullptr where the file cannot be made, which is said on stderr.
  static std::unique_ptr<Meeting> join(const std::string& name, int rank, int ranks);

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int ranks() const { return ranks_; }

  // Waits until all ranks have joined. False after an abort or ten minutes.
  bool wait_for_all();

  // Whether the next deposit has room, which it has once all ranks have read earlier ones.
  [[nodiscard]] bool has_room() const;
  bool wait_for_room();

  // Puts down this rank's bytes, at most kRealBytes, and returns the deposit's number.
  uint64_t deposit(const void* bytes, uint64_t count);

  [[nodiscard]] bool is_complete(uint64_t number) const;  // all ranks have made the deposit
  bool wait_for(uint64_t number);
  [[nodiscard]] const char* deposited_by(int rank, uint64_t number) const;
  void note_read(uint64_t number);  // this rank needs the deposit no longer

  void abort();  // ends this rank's waits
  [[nodiscard]] bool is_aborted() const;

 private:
  Meeting(std::unique_ptr<MeetingFile> file, int rank, int ranks);
  template <typename Condition>
  bool wait_until(const char* what, Condition condition);

  std::unique_ptr<MeetingFile> file_;
  int rank_;
  int ranks_;
  MeetingLayout* layout_;  // in the file's memory
  uint64_t deposits_ = 0;
  std::atomic<bool> aborted_{false};
};

}  // namespace tandem::pretend
