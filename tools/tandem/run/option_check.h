// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "common/results/launch_record.h"
#include "tools/tandem/launch/launcher.h"
#include "tools/tandem/process/interrupts.h"

namespace tandem::cli {

// Throws a usage error that names the first cell whose options step_bench refuses. step_bench is
// asked once about cells that differ in their batch alone, unless their model is a workload file;
// an interrupt ends the check.
void check_options(const std::vector<results::Cell>& cells, const Launcher& launcher,
                   const Interrupts& interrupts);

}  // namespace tandem::cli
