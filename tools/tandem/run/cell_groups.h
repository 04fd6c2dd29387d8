// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "common/results/launch_record.h"
#include "tools/tandem/run/progress.h"

namespace tandem::cli {

// The numbers of cells that only answer something together: dp and ddp at one point, or their
// bounds.
using CellGroup = std::vector<std::size_t>;

// All cells in the order in which a budget takes them, the most informative group first, each at
// its workload's most devices: PyTorch's own DataParallel and DistributedDataParallel where it has
// both; plain dp and ddp; their bounds, single and independent; the other corners; variants with
// options. Then fewer devices, in the same order. The first workload of
// each model comes before the second one of any, in the order of the sweep.
[[nodiscard]] std::vector<CellGroup> most_informative_first(
    const std::vector<results::Cell>& cells);

// The first groups whose launches fit into `time`; no group after one that does not fit is taken.
// `launches` counts the missing launches of each cell; groups without missing launches are left
// out.
[[nodiscard]] std::vector<CellGroup> within(Seconds time, const std::vector<CellGroup>& groups,
                                            const std::vector<int>& launches,
                                            const LaunchTimes& times);

}  // namespace tandem::cli
