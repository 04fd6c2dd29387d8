// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "common/results/launch_record.h"
#include "tools/tandem/launch_times.h"

namespace tandem::cli {

// Cells that tell something together, by number: dp and ddp at one point, or their bounds.
using CellGroup = std::vector<std::size_t>;

// All cells in the order in which a budget takes them, the most informative group first: dp and ddp
// as they are at each workload's most devices; then their bounds there, single and independent; the
// other corners; variants with options; then fewer devices, in the same order. Workloads in the
// order that tells of their whole range early: the first, the last, then the middle of what lies
// between.
[[nodiscard]] std::vector<CellGroup> by_information(const std::vector<results::Cell>& cells);

// The first groups whose launches take no longer than `time`; a group after one that does not fit
// is not taken either. `launches` to go by cell; groups without any are not listed.
[[nodiscard]] std::vector<CellGroup> within(Seconds time, const std::vector<CellGroup>& groups,
                                            const std::vector<int>& launches,
                                            const LaunchTimes& times);

}  // namespace tandem::cli
