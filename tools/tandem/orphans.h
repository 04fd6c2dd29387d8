// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tandem::cli {

// From now on descendants whose parent dies become children of this process instead of init's:
// ranks of a killed mpirun can then be found.
void adopt_orphans();

// Kills and reaps all children of this process, adopted ones too.
void kill_orphans();

}  // namespace tandem::cli
