// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <boost/noncopyable.hpp>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "common/base/error.h"
#include "common/base/units.h"
#include "common/comm/communicator.h"

namespace tandem {

// Watches calls that cannot be interrupted. A thread looks several times per deadline, and once it
// has seen the same call for a whole deadline, reports the call to `on_late`, once. Time in which
// this process itself was stopped does not count as a delay: the deadline begins anew. Starting and
// ending a watch cost nanoseconds, with no clock read and no lock taken, since every collective is
// watched. Thread-safe.
class Watchdog : boost::noncopyable {
  struct Slot;

 public:
  // `on_late` runs on the watchdog's thread with the rank's error; most actions end the process.
  using Action = std::function<void(const Error& error)>;

  Watchdog(int rank, Nanoseconds deadline, Action on_late);
  ~Watchdog();

  // A watch, which ends with its scope.
  class Watch : boost::noncopyable {
   public:
    explicit Watch(Slot& slot) : slot_(slot) {}
    ~Watch() { slot_.turn.fetch_add(1, std::memory_order_release); }

   private:
    Slot& slot_;
  };

  // Watches `call` from now on; the error names `call`. At most kMostCalls at once.
  static constexpr std::size_t kMostCalls = 8;
  [[nodiscard]] Watch watch(const CollectiveCall& call);

  // Reports `line` to `on_late` after `grace`, whatever calls are watched until then.
  void expire(Nanoseconds grace, const std::string& line) noexcept;

 private:
  // A running call, written by the calling thread and read by the watchdog.
  struct alignas(64) Slot {
    std::atomic<std::uint64_t> turn{0};  // counts beginnings and ends: odd while there is a call
    std::atomic<std::uint64_t> sequence{0};
    std::atomic<const char*> name{""};
    std::atomic<std::int64_t> bytes{0};
  };
  // The last state of a slot that the watchdog's thread saw.
  struct Seen {
    std::uint64_t turn = 0;
    TimePoint since;
  };

  void run();
  [[nodiscard]] std::optional<Error> late_call(TimePoint now);
  [[nodiscard]] Error error_of(const Slot& slot, Nanoseconds waited) const;

  const int rank_;
  const Nanoseconds deadline_;
  const Nanoseconds look_;  // between two looks
  const Action on_late_;
  std::array<Slot, kMostCalls> slots_;
  std::array<Seen, kMostCalls> seen_;  // used by the thread alone
  TimePoint looked_;                   // time of the last look; used by the thread alone

  std::mutex mutex_;  // guards the members below
  std::condition_variable changed_;
  std::optional<TimePoint> expiry_;
  std::string expired_line_;
  bool closed_ = false;

  std::thread thread_;  // last, since the thread uses all members above
};

}  // namespace tandem
