// SPDX-License-Identifier: Apache-2.0
//
// Slurm's ranks are children of Slurm's own daemons: after an srun is killed, its ranks may go on
// and keep their cores. Steps carry a name by which this program finds its own steps.
#pragma once

#include <string>
#include <vector>

namespace tandem::cli {

// The name of all steps that this process starts; no other process has the same name.
[[nodiscard]] std::string step_name();

// The numbers, such as "7.3", of the steps with that name in squeue's lines "NUMBER NAME".
[[nodiscard]] std::vector<std::string> own_steps_in(const std::string& list);

// Cancels the remaining steps of this process in its allocation. Reports no error, since the caller
// could do nothing more.
void cancel_own_steps();

}  // namespace tandem::cli
