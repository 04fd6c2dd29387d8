// SPDX-License-Identifier: Apache-2.0
//
// Slurm's ranks are children of its own daemons: where an srun is killed, what it started may go
// on, and keep its cores. Steps carry a name by which this program finds its own.
#pragma once

#include <string>
#include <vector>

namespace tandem::cli {

// Of all steps that this process starts, and of no other process's.
[[nodiscard]] std::string step_name();

// Numbers such as "7.3" of the steps with that name in "NUMBER NAME" lines, as squeue writes them.
[[nodiscard]] std::vector<std::string> own_steps_in(const std::string& list);

// Cancels what is left of this process's steps in the allocation that it runs in. Says nothing,
// since there is nothing more that could be done.
void cancel_own_steps();

}  // namespace tandem::cli
