// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "common/results/launch_record.h"
#include "tools/tandem/sweep.h"

namespace tandem::cli {

// A cell that a sweep's axes name and that is not measured.
struct DroppedCell {
  results::Cell cell;
  std::string reason;
};

struct PlannedCells {
  std::vector<results::Cell> cells;
  std::vector<DroppedCell> dropped;
};

// The cells of a sweep, without those that make no sense: `single` is one device whatever the list
// says, with a batch per device the whole batch of each count; `independent` begins at two devices,
// since at one it is `single`; devices with an equal share each need a batch that they divide; and
// what the sweep's constraints drop. `backend` as
// --backend takes it. Throws a usage error where two cells are the same or none is left.
[[nodiscard]] PlannedCells plan_cells(const Sweep& sweep, const std::string& backend);
[[nodiscard]] std::vector<results::Cell> cells_of(const Sweep& sweep, const std::string& backend);

// Drops what the host has no use for, cells that ask about p2p, which is between GPUs; and what
// GPUs have none for, modelled links.
void drop_for_backend(PlannedCells& planned, bool is_host);

// Launch by launch over all cells, the cells of each round in another order: drift of the machine
// then falls on all cells alike. The seed is fixed, so that a resumed sweep has the same order.
struct Slot {
  std::size_t cell = 0;
  int launch = 0;
};
[[nodiscard]] std::vector<Slot> interleaved(std::size_t cells, int launches);

// Whether `large` differs from `small` in a larger batch, a later model of one of the series, or
// both, and in nothing else.
[[nodiscard]] bool is_larger(const results::Cell& large, const results::Cell& small,
                             const std::vector<std::vector<std::string>>& model_series);

}  // namespace tandem::cli
