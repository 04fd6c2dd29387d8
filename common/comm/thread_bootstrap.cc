// SPDX-License-Identifier: Apache-2.0
#include "common/comm/thread_bootstrap.h"

#include <algorithm>
#include <optional>
#include <thread>

#include "common/base/error.h"

namespace tandem {
namespace {

class ThreadBootstrap final : public Bootstrap {
 public:
  ThreadBootstrap(ThreadGroup& group, int rank, std::vector<int> job_ranks)
      : group_(group), rank_(rank), job_ranks_(std::move(job_ranks)) {}

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return group_.size(); }
  [[nodiscard]] const std::vector<int>& job_ranks() const override { return job_ranks_; }
  [[nodiscard]] bool shares_address_space() const override { return true; }
  [[nodiscard]] std::vector<std::string> all_gather(const std::string& mine) override {
    return group_.all_gather(rank_, mine);
  }
  [[nodiscard]] std::unique_ptr<Bootstrap> split(int colour) override {
    std::vector<int> part = job_ranks_of_part(*this, colour);
    const auto mine = std::find(part.begin(), part.end(), own_job_rank(*this));
    const int rank_in_part = static_cast<int>(mine - part.begin());
    ThreadGroup& group = group_.part(splits_++, colour, static_cast<int>(part.size()));
    return std::make_unique<ThreadBootstrap>(group, rank_in_part, std::move(part));
  }
  void abort(int) override { group_.abort(); }

 private:
  ThreadGroup& group_;
  const int rank_;
  const std::vector<int> job_ranks_;
  int splits_ = 0;  // splits so far, the same number on all ranks
};

}  // namespace

ThreadGroup::ThreadGroup(int size, Nanoseconds deadline)
    : deadline_(deadline), texts_(static_cast<std::size_t>(size)) {
  TANDEM_CHECK(size >= 1, "{} ranks", size);
}

std::unique_ptr<Bootstrap> ThreadGroup::join(int rank) {
  TANDEM_CHECK(rank >= 0 && rank < size(), "rank {} of {}", rank, size());
  return std::make_unique<ThreadBootstrap>(*this, rank, all_job_ranks(size()));
}

std::vector<std::string> ThreadGroup::all_gather(int rank, const std::string& mine) {
  std::unique_lock lock(mutex_);
  if (aborted_) fail_alone(rank);
  texts_[static_cast<std::size_t>(rank)] = mine;
  const std::uint64_t round = round_;
  if (++arrived_ == size()) {
    gathered_ = texts_;
    arrived_ = 0;
    ++round_;
    changed_.notify_all();
    return gathered_;
  }
  const bool in_time = changed_.wait_until(lock, Clock::now() + deadline_,
                                           [&] { return round_ != round || aborted_; });
  if (round_ != round) return gathered_;
  if (in_time) fail_alone(rank);
  aborted_ = true;  // a later rank must not meet this rank's arrival
  changed_.notify_all();
  fail(PeerFailure{.kind = PeerFailure::Kind::kWaited, .waited = deadline_},
       "rank {} of {}: another rank did not come to the exchange in time", rank, size());
}

void ThreadGroup::fail_alone(int rank) const {
  fail(PeerFailure{.kind = PeerFailure::Kind::kAborted}, "rank {} of {}: another rank gave up",
       rank, size());
}

ThreadGroup& ThreadGroup::part(int number, int colour, int size) {
  const std::lock_guard lock(mutex_);
  std::unique_ptr<ThreadGroup>& group = parts_[{number, colour}];
  if (!group) {
    group = std::make_unique<ThreadGroup>(size, deadline_);
    if (aborted_) group->abort();
  }
  return *group;
}

void ThreadGroup::abort() {
  const std::lock_guard lock(mutex_);
  aborted_ = true;
  changed_.notify_all();
  for (const auto& [key, group] : parts_) group->abort();
}

void run_ranks_as_threads(int size, const std::function<void(Bootstrap&)>& body) {
  ThreadGroup group(size);
  std::vector<std::optional<Error>> errors(static_cast<std::size_t>(size));
  std::vector<std::thread> threads;
  // A thread may fail to start (a limit of processes): the threads before it must not wait for its
  // rank.
  const auto not_started = capture_error([&] {
    for (int rank = 0; rank < size; ++rank) {
      threads.emplace_back([&group, &body, &errors, rank] {
        errors[static_cast<std::size_t>(rank)] = capture_error([&] { body(*group.join(rank)); });
        if (errors[static_cast<std::size_t>(rank)]) group.abort();
      });
    }
  });
  if (not_started) group.abort();
  for (std::thread& thread : threads) thread.join();
  if (not_started) throw Error(*not_started);
  throw_cause(errors);
}

}  // namespace tandem
