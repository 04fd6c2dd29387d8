// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/run/option_check.h"

#include <set>
#include <string>

#include "common/base/error.h"
#include "common/base/input_file.h"

namespace tandem::cli {

void check_options(const std::vector<results::Cell>& cells, const Launcher& launcher,
                   const Interrupts& interrupts) {
  std::set<std::string> seen;
  for (const results::Cell& cell : cells) {
    if (interrupts.requested()) return;
    results::Cell kind = cell;
    // The batch stays in the key only where the model is a file, since a measured model bounds the
    // shares of a batch.
    if (!pinned_file(cell.model)) kind.global_batch = 0;
    if (!seen.insert(kind.name()).second) continue;
    const std::string refusal = launcher.refusal_of(cell, Check::kOptions);
    if (!refusal.empty()) {
      fail(ErrorKind::kUsage, "the sweep's cell {}: {}", cell.name(), refusal);
    }
  }
}

}  // namespace tandem::cli
