// SPDX-License-Identifier: Apache-2.0
//
// Which calls of ranks are one collective, and how long it takes.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <tuple>

#include "simulate/catalogue/description.h"
#include "simulate/cost/collective_time.h"
#include "simulate/engine/schedule.h"
#include "tools/tandem/replay/call_log.h"

namespace tandem::replay {

// The ranks of a collective: of one process, which call it in one group, or a process each, which
// call theirs in the same order on communicators that they made in the same order.
enum class MeetingRanks { kOfOneGroup, kProcesses };

// The collectives of a step.
class Collectives {
 public:
  Collectives(simulated::Schedule& schedule, const HardwareDescription& hardware)
      : schedule_(schedule), links_(simulated::collective_links(hardware)) {}

  // The collective that a call of a process is a part of. Throws a usage error where the call is
  // no collective of the cost model, and where two ranks call different ones.
  [[nodiscard]] simulated::CollectiveId at(std::size_t process, const RankCollective& call,
                                           MeetingRanks ranks);

  // Throws a usage error that names the first collective whose ranks have not all called it.
  void check_complete() const;

  [[nodiscard]] int count() const { return static_cast<int>(all_.size()); }

 private:
  struct Meeting {
    simulated::CollectiveId id{};
    RankCollective first{};  // as the first rank called it
    std::set<int> ranks{};   // that have called it
  };
  // The process of ranks that meet in a group, or -1; the communicator or the group; the number.
  using Key = std::tuple<int, std::int64_t, int>;

  [[nodiscard]] Meeting made(const RankCollective& call);

  simulated::Schedule& schedule_;
  const simulated::CollectiveLinks links_;
  std::map<Key, Meeting> all_;
  // By process, communicator or group, and rank: how many a rank has called.
  std::map<std::tuple<std::size_t, MeetingRanks, std::int64_t, int>, int> called_;
};

}  // namespace tandem::replay
