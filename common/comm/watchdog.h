// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "common/base/clock.h"
#include "common/comm/collective_observer.h"

namespace tandem {

// Watches calls that cannot be interrupted: a thread that sleeps until the oldest one is past the
// deadline, and then says so to `on_late`, once. To start and end a watch costs a clock reading and
// two uncontended locks; the thread wakes once per deadline at most. Thread-safe.
class Watchdog {
 public:
  // `on_late` runs on the watchdog's thread with one line of text; most end the process.
  using Action = std::function<void(const std::string& line)>;

  Watchdog(int rank, Nanoseconds deadline, Action on_late);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  // Ends with its scope.
  class Watch {
   public:
    Watch(Watchdog& dog, std::uint64_t id) : dog_(dog), id_(id) {}
    ~Watch() { dog_.end(id_); }
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;

   private:
    Watchdog& dog_;
    const std::uint64_t id_;
  };

  // From now on; `call` is what the line names. Its name lives as long as the watch.
  [[nodiscard]] Watch watch(const CollectiveCall& call);

  // `line` is late after `grace`, whatever is watched until then.
  void expire(Nanoseconds grace, const std::string& line) noexcept;

 private:
  struct Watched {
    std::uint64_t id = 0;
    CollectiveCall call;
    TimePoint since;
  };

  void end(std::uint64_t id) noexcept;
  void run();
  [[nodiscard]] TimePoint next_look(TimePoint now) const;
  [[nodiscard]] std::optional<std::string> late(TimePoint now) const;

  const int rank_;
  const Nanoseconds deadline_;
  const Action on_late_;

  std::mutex mutex_;  // guards all below
  std::condition_variable changed_;
  std::vector<Watched> watched_;  // the oldest first
  std::uint64_t watches_ = 0;
  std::optional<TimePoint> expiry_;
  std::string expired_line_;
  bool closed_ = false;

  std::thread thread_;  // last: it uses all of the above
};

}  // namespace tandem
