// SPDX-License-Identifier: Apache-2.0
#include "common/comm/watchdog.h"

#include <algorithm>
#include <utility>

#include "common/base/error.h"
#include "common/comm/collective_errors.h"

namespace tandem {
namespace {

// A late call is noticed at most this part of the deadline, or kLongestLook, too late.
constexpr int kLooksPerDeadline = 16;
constexpr Nanoseconds kLongestLook = std::chrono::seconds(1);

// A look that comes later than this part of the deadline shows that this process did not run.
constexpr int kAwayPerDeadline = 2;

}  // namespace

Watchdog::Watchdog(int rank, Nanoseconds deadline, Action on_late)
    : rank_(rank),
      deadline_(deadline),
      look_(std::min(kLongestLook, deadline / kLooksPerDeadline)),
      on_late_(std::move(on_late)),
      looked_(Clock::now()),
      thread_([this] { run(); }) {}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

// The thread is not notified, since the thread looks often enough.
Watchdog::Watch Watchdog::watch(const CollectiveCall& call) {
  for (Slot& slot : slots_) {
    std::uint64_t turn = slot.turn.load(std::memory_order_relaxed);
    const bool free = turn % 2 == 0;
    if (!free || !slot.turn.compare_exchange_strong(turn, turn + 1, std::memory_order_acquire)) {
      continue;
    }
    slot.sequence.store(call.sequence, std::memory_order_relaxed);
    slot.name.store(call.name, std::memory_order_relaxed);
    slot.bytes.store(call.size.value, std::memory_order_relaxed);
    return Watch(slot);
  }
  fail(ErrorKind::kLogic, "more than {} calls at once inside a transport", kMostCalls);
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

Error Watchdog::error_of(const Slot& slot, Nanoseconds waited) const {
  return timeout_error(rank_, waited,
                       {.sequence = slot.sequence.load(std::memory_order_relaxed),
                        .name = slot.name.load(std::memory_order_relaxed),
                        .size = Bytes{slot.bytes.load(std::memory_order_relaxed)}});
}

// A running call has the same turn at every look.
std::optional<Error> Watchdog::late_call(TimePoint now) {
  const bool was_away = now - looked_ > deadline_ / kAwayPerDeadline + look_;
  looked_ = now;
  for (std::size_t i = 0; i < kMostCalls; ++i) {
    Seen& seen = seen_[i];
    const std::uint64_t turn = slots_[i].turn.load(std::memory_order_acquire);
    if (turn != seen.turn || was_away) {
      seen = {.turn = turn, .since = now};
      continue;
    }
    if (turn % 2 == 0 || now < seen.since + deadline_) continue;
    Error error = error_of(slots_[i], now - seen.since);
    if (slots_[i].turn.load(std::memory_order_acquire) == turn) return error;
  }
  return std::nullopt;
}

void Watchdog::run() {
  std::unique_lock lock(mutex_);
  while (!closed_) {
    const TimePoint now = Clock::now();
    auto error = late_call(now);
    if (expiry_ && now >= *expiry_) {
      error.emplace(PeerFailure{.kind = PeerFailure::Kind::kAborted}, expired_line_);
    }
    if (error) {
      lock.unlock();
      return on_late_(*error);
    }
    const TimePoint next = now + look_;
    changed_.wait_until(lock, std::min(next, expiry_.value_or(next)));
  }
}

}  // namespace tandem
