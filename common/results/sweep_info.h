// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/results/context.h"
#include "common/results/link_matrix.h"

namespace tandem::results {

// Cells that were planned later, beside the sweep's own: `tandem explain` adds the cells that an
// explanation lacks.
struct Addition {
  std::vector<std::string> cells;  // cells by name
  int launches_per_cell = 0;
};

// Cells of the sweep's axes that make no sense, or that the sweep's constraints rule out.
struct DroppedCells {
  std::string reason;
  std::vector<std::string> cells;  // cells by name
};

// The facts of a sweep in its journal and its document.
struct SweepInfo {
  std::string name;
  std::string definition;  // canonical JSON text of all that determines the measurement
  int planned_cells = 0;
  int launches_per_cell = 0;
  std::vector<DroppedCells> dropped{};
  std::vector<Addition> additions;    // additions in planning order
  Context context;                    // machine and time of the sweep's start
  std::optional<LinkMatrix> links{};  // absent: not requested, or not measured yet
  // The command that began each document merged into this one: the words after `tandem`, without
  // --out. Empty: the document is older than this field.
  std::vector<std::vector<std::string>> commands{};
};

}  // namespace tandem::results
