// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "common/results/launch_record.h"
#include "tools/tandem/sweep.h"

namespace tandem::cli {

// The cells of a sweep. `single` is one device whatever the list says; `independent` begins at two
// devices, since at one it is `single`. Throws a usage error where two cells are the same.
[[nodiscard]] std::vector<results::Cell> cells_of(const Sweep& sweep, const std::string& backend);

// Launch by launch over all cells, the cells of each round in another order: drift of the machine
// then falls on all cells alike. The seed is fixed, so that a resumed sweep has the same order.
struct Slot {
  std::size_t cell = 0;
  int launch = 0;
};
[[nodiscard]] std::vector<Slot> interleaved(std::size_t cells, int launches);

// Cells that differ in nothing but their batch.
[[nodiscard]] bool same_series(const results::Cell& a, const results::Cell& b);

}  // namespace tandem::cli
