// SPDX-License-Identifier: Apache-2.0
//
// A pretended communicator: one rank of a meeting, on the device that was current when it was made.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "pretend/nccl/meeting.h"
#include "pretend/nccl/values.h"

namespace tandem::pretend {

class RankCommunicator {
 public:
  RankCommunicator(std::unique_ptr<Meeting> meeting, std::string name, int device, int number)
      : meeting_(std::move(meeting)), name_(std::move(name)), device_(device), number_(number) {}

  [[nodiscard]] int rank() const { return meeting_->rank(); }
  [[nodiscard]] int ranks() const { return meeting_->ranks(); }
  [[nodiscard]] int device() const { return device_; }
  [[nodiscard]] int number() const { return number_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] Meeting& meeting() { return *meeting_; }

  // The communicator of sender and receiver, or this one where nothing is computed for two. nullptr
  // where the two cannot meet.
  [[nodiscard]] RankCommunicator* of(const Collective& collective);

  // Puts down this rank's values, if the collective is computed; the result comes with settle().
  // `call` is the collective's number for --check, which waits for the others by it.
  void enqueue(const Collective& collective, uint64_t call);

  // Writes the results that are due: all, those that touch the bytes, or those that are complete
  // already. Waits for other ranks where a result is not complete.
  void settle();
  void settle(const void* address, uint64_t bytes);
  void settle_complete();

  // What every rank put down, gathered at once: for splitting.
  bool exchange(const void* mine, void* all, uint64_t bytes);

  void finish();  // writes all results, those of sends and receives among them
  void leave();   // nobody waits here any more
  void abort();   // ends the waits

  int splits = 0;  // communicators made of this one: part of their names

 private:
  struct Due {
    Collective collective;
    uint64_t number;
    uint64_t call;
    bool known;  // whether what the ranks give was computed
  };
  void settle_first();  // with the mutex held
  void drop_due();      // with the mutex held: results that nobody gets any more
  RankCommunicator* with_peer(const Collective& collective);

  std::unique_ptr<Meeting> meeting_;
  std::string name_;
  int device_;
  int number_;
  std::mutex mutex_{};
  std::deque<Due> due_{};
  // By the peer, and whether this rank sends.
  std::map<std::pair<int, bool>, std::shared_ptr<RankCommunicator>> with_peers_{};
};

// All communicators of this process, for whoever waits.
void enlist(
    const std::shared_ptr<RankCommunicator>& communicator);  // shared with a thread that waits
void strike(const RankCommunicator* communicator);

// Groups of collectives, per thread. A collective is logged where it is called; its values are put
// down at the end of the outermost group, when all ranks that the thread drives have called.
[[nodiscard]] bool is_in_group();
int start_group();
int end_group();

int submit(const char* call, const std::shared_ptr<RankCommunicator>& communicator,
           const Collective& collective, const void* stream);

}  // namespace tandem::pretend
