// SPDX-License-Identifier: Apache-2.0
#include "common/comm/thread_bootstrap.h"

#include <optional>
#include <thread>

#include "common/base/capture_error.h"
#include "common/base/check.h"

namespace tandem {
namespace {

class ThreadBootstrap final : public Bootstrap {
 public:
  ThreadBootstrap(ThreadGroup& group, int rank) : group_(group), rank_(rank) {}

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return group_.size(); }
  [[nodiscard]] bool shares_address_space() const override { return true; }
  [[nodiscard]] std::vector<std::string> all_gather(const std::string& mine) override {
    return group_.all_gather(rank_, mine);
  }
  [[nodiscard]] std::unique_ptr<Bootstrap> split(int colour) override {
    int part_size = 0;
    int rank_in_part = 0;
    const std::vector<std::string> colours = all_gather(std::to_string(colour));
    for (int peer = 0; peer < size(); ++peer) {
      if (std::stoi(colours[static_cast<std::size_t>(peer)]) != colour) continue;
      if (peer < rank_) ++rank_in_part;
      ++part_size;
    }
    return group_.part(splits_++, colour, part_size).join(rank_in_part);
  }
  void abort(int) override { group_.abort(); }

 private:
  ThreadGroup& group_;
  const int rank_;
  int splits_ = 0;  // so far: the same on all ranks
};

}  // namespace

ThreadGroup::ThreadGroup(int size, Nanoseconds deadline)
    : deadline_(deadline), texts_(static_cast<std::size_t>(size)) {
  TANDEM_CHECK(size >= 1, "{} ranks", size);
}

std::unique_ptr<Bootstrap> ThreadGroup::join(int rank) {
  TANDEM_CHECK(rank >= 0 && rank < size(), "rank {} of {}", rank, size());
  return std::make_unique<ThreadBootstrap>(*this, rank);
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
  aborted_ = true;  // this rank's arrival still counts: a later one must not meet it
  changed_.notify_all();
  fail(ErrorKind::kCommunication,
       "rank {} of {}: another rank did not come to the exchange in time", rank, size());
}

void ThreadGroup::fail_alone(int rank) const {
  fail(ErrorKind::kCommunication, "rank {} of {}: another rank gave up", rank, size());
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
  // A thread may not start (a limit of processes): those before it must not wait for its rank.
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
  // What a rank did wrong says more than that another was left alone by it.
  for (const auto& error : errors) {
    if (error && error->kind() != ErrorKind::kCommunication) throw Error(*error);
  }
  for (const auto& error : errors) {
    if (error) throw Error(*error);
  }
}

}  // namespace tandem
