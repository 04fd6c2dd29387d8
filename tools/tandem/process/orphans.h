// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tandem::cli {

// From this call on, descendants whose parent dies become children of this process instead of
// init's, so that ranks of a killed mpirun can be found.
void adopt_orphans();

// Kills and reaps all children of this process, adopted children too.
void kill_orphans();

}  // namespace tandem::cli
