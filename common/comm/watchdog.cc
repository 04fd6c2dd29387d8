// SPDX-License-Identifier: Apache-2.0
#include "common/comm/watchdog.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tandem {
namespace {

std::string line_of(int rank, Nanoseconds waited, const CollectiveCall& call) {
  const std::string number = call.sequence > 0 ? fmt::format("#{}, ", call.sequence) : "";
  return fmt::format(
      "rank {} waited {} in {} ({}{}) for ranks that are lost or late: look at their output, or "
      "for "
      "one that was killed or stopped",
      rank, to_string(Seconds(waited)), call.name, number, to_string(call.size));
}

}  // namespace

Watchdog::Watchdog(int rank, Nanoseconds deadline, Action on_late)
    : rank_(rank), deadline_(deadline), on_late_(std::move(on_late)), thread_([this] { run(); }) {}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

// The thread is not woken: it looks again before this watch can be late.
Watchdog::Watch Watchdog::watch(const CollectiveCall& call) {
  const TimePoint now = Clock::now();
  const std::lock_guard lock(mutex_);
  watched_.push_back({++watches_, call, now});
  return {*this, watches_};
}

void Watchdog::end(std::uint64_t id) noexcept {
  const std::lock_guard lock(mutex_);
  std::erase_if(watched_, [id](const Watched& watched) { return watched.id == id; });
}

void Watchdog::expire(Nanoseconds grace, const std::string& line) noexcept {
  {
    const std::lock_guard lock(mutex_);
    if (expiry_) return;
    expiry_ = Clock::now() + grace;
    expired_line_ = line;
  }
  changed_.notify_all();
}

TimePoint Watchdog::next_look(TimePoint now) const {
  const TimePoint oldest = watched_.empty() ? now : watched_.front().since;
  return std::min(oldest + deadline_, expiry_.value_or(TimePoint::max()));
}

std::optional<std::string> Watchdog::late(TimePoint now) const {
  if (expiry_ && now >= *expiry_) return expired_line_;
  if (watched_.empty() || now < watched_.front().since + deadline_) return std::nullopt;
  return line_of(rank_, now - watched_.front().since, watched_.front().call);
}

void Watchdog::run() {
  std::unique_lock lock(mutex_);
  while (!closed_) {
    if (const auto line = late(Clock::now())) {
      lock.unlock();
      return on_late_(*line);
    }
    // By time, or by expire() and the end.
    changed_.wait_until(lock, next_look(Clock::now()));
  }
}

}  // namespace tandem
