// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/results/context.h"
#include "common/results/link_matrix.h"

namespace tandem::results {

// Cells that were planned later, beside those of the sweep: `tandem explain` adds what it lacks.
struct Addition {
  std::vector<std::string> cells;  // by name
  int launches_per_cell = 0;
};

// Cells that the sweep's axes name and that make no sense, or that its constraints rule out.
struct DroppedCells {
  std::string reason;
  std::vector<std::string> cells;  // by name
};

// What a journal and a document say of the sweep that they belong to.
struct SweepInfo {
  std::string name;
  std::string definition;  // canonical JSON text of all that decides what is measured
  int planned_cells = 0;
  int launches_per_cell = 0;
  std::vector<DroppedCells> dropped{};
  std::vector<Addition> additions;    // in the order in which they were planned
  Context context;                    // of the machine and the moment of the sweep's start
  std::optional<LinkMatrix> links{};  // absent: not asked for, or not yet
  // What began it, of each document that was merged into this one: the words after `tandem`,
  // without --out. Empty: the document is older than that.
  std::vector<std::vector<std::string>> commands{};
};

}  // namespace tandem::results
