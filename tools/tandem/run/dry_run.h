// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/tandem/run/run_command.h"

namespace tandem::cli {

// Prints which cells `tandem run` would measure and which it would not, with the time that they
// need. Leaves nothing in --out. Returns 0; throws the usage errors of the run.
[[nodiscard]] int dry_run(const RunOptions& options);

}  // namespace tandem::cli
