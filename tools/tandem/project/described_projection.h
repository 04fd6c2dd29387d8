// SPDX-License-Identifier: Apache-2.0
//
// A projection that nothing was measured for: a model's steps on a described machine.
#pragma once

#include "tools/tandem/project/project_command.h"

namespace tandem::cli {

// Says what dp, ddp and the bound take for a built-in model, a workload file or a module on a
// machine of the catalogue or of a file, what stands behind these figures, what one change would
// bring, and from which batch on devices pay. A module is exported first, in the python that has
// torch. More devices than a catalogued node has are on several nodes with its usual network.
// Prints the answer and writes it with the simulated launches. Returns 1 where no cell could be
// simulated. Throws usage errors before anything is written: no hardware, batch or model, a
// precision that the GPU lacks, more devices than the machine has; and as facts_of_module().
[[nodiscard]] int project_described(const ProjectOptions& options);

}  // namespace tandem::cli
