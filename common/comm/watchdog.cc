// SPDX-License-Identifier: Apache-2.0
#include "common/comm/watchdog.h"

#include <algorithm>
#include <utility>

#include "common/base/check.h"
#include "common/comm/waited_in_vain.h"

namespace tandem {
namespace {

// A late call is noticed at most that part of the deadline later.
constexpr int kLooksPerDeadline = 8;

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

// The thread is not told: it looks often enough.
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

std::string Watchdog::line_of(const Slot& slot, Nanoseconds waited) const {
  return waited_in_vain(rank_, waited,
                        {.sequence = slot.sequence.load(std::memory_order_relaxed),
                         .name = slot.name.load(std::memory_order_relaxed),
                         .size = Bytes{slot.bytes.load(std::memory_order_relaxed)}});
}

// A call that goes on is in the same turn at every look.
std::optional<std::string> Watchdog::late_call(TimePoint now) {
  for (std::size_t i = 0; i < kMostCalls; ++i) {
    Seen& seen = seen_[i];
    const std::uint64_t turn = slots_[i].turn.load(std::memory_order_acquire);
    if (turn != seen.turn) {
      seen = {.turn = turn, .since = now};
      continue;
    }
    if (turn % 2 == 0 || now < seen.since + deadline_) continue;
    const std::string line = line_of(slots_[i], now - seen.since);
    if (slots_[i].turn.load(std::memory_order_acquire) == turn) return line;
  }
  return std::nullopt;
}

void Watchdog::run() {
  std::unique_lock lock(mutex_);
  while (!closed_) {
    const TimePoint now = Clock::now();
    auto line = late_call(now);
    if (expiry_ && now >= *expiry_) line = expired_line_;
    if (line) {
      lock.unlock();
      return on_late_(*line);
    }
    const TimePoint next = now + deadline_ / kLooksPerDeadline;
    changed_.wait_until(lock, std::min(next, expiry_.value_or(next)));
  }
}

}  // namespace tandem
