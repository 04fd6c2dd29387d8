// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "simulate/engine/schedule.h"
#include "simulate/engine/task.h"

namespace tandem::simulated {

// The rates of transfers that share links fairly (max-min): no transfer can become faster without
// making one slower that is no faster. `links` has the bytes per second of each link, `paths` the
// path of each transfer; the rates are in bytes per second, by transfer.
[[nodiscard]] std::vector<double> fair_rates(std::span<const double> links,
                                             std::span<const Path* const> paths);

// Finds when each of `tasks` ends and appends these times to `ends`, which has the ends of all
// tasks before these; the locks of `resources` stay held until their last calls end. `deciders`
// gets which of `tasks` decided on each one's begin (schedule.h): the predecessor that ended
// last, the call that held the lock, or what the last rank of a collective waited for. One pass
// over the begins and ends of all tasks in the order of time, and where times are equal in a fixed
// order. Returns a lane that waits for ever, in which case `ends` is as before; nothing where all
// tasks end.
[[nodiscard]] std::optional<LaneId> solve(std::span<const Task> tasks, Resources& resources,
                                          std::vector<Nanoseconds>& ends,
                                          std::vector<std::int32_t>& deciders);

}  // namespace tandem::simulated
