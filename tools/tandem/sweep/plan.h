// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "common/results/launch_record.h"
#include "tools/tandem/sweep/sweep.h"

namespace tandem::cli {

// A cell that a sweep's axes name but the sweep does not measure.
struct DroppedCell {
  results::Cell cell;
  std::string reason;
};

struct PlannedCells {
  std::vector<results::Cell> cells;
  std::vector<DroppedCell> dropped;
};

// The cells of a sweep, without those that make no sense: `single` has one device whatever the list
// says, and with a batch per device takes the whole batch of each count; `independent` begins at
// two devices, since `independent` on one device is `single`; a batch must be divisible by devices
// with equal shares; and the sweep's constraints drop cells. `backend` is a value of --backend.
// Throws a usage error where two cells are the same or no cell is left.
[[nodiscard]] PlannedCells plan_cells(const Sweep& sweep, const std::string& backend);

// Drops the cells that a back end cannot use: p2p on the host, since p2p connects GPUs, and
// options of GPUs there.
void drop_for_backend(PlannedCells& planned, bool is_host);

// One launch of one cell. Each round launches every cell once, in another order, so that drift of
// the machine falls on all cells alike. Within a round the cells of a workload follow each other,
// and of these those of one device count: cells that are compared share what the machine does in
// some seconds. The seed is fixed, so that a resumed sweep has the same order.
struct PlannedLaunch {
  std::size_t cell = 0;
  int launch = 0;
};
[[nodiscard]] std::vector<PlannedLaunch> interleaved(const std::vector<results::Cell>& cells,
                                                     int launches);

// Whether `large` differs from `small` only in a larger batch, a later model of a series, or both.
[[nodiscard]] bool is_larger(const results::Cell& large, const results::Cell& small,
                             const std::vector<std::vector<std::string>>& model_series);

}  // namespace tandem::cli
