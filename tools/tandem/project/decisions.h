// SPDX-License-Identifier: Apache-2.0
//
// What a projection onto described hardware simulates beside its cells: one thing changed, and from
// which batch on devices pay.
#pragma once

#include <vector>

#include "reports/model/projection.h"
#include "tools/tandem/project/described_machine.h"
#include "tools/tandem/project/projected_cells.h"

namespace tandem::cli {

// The step of each projected cell without the interpreter's costs.
void add_steps_without_costs(reports::Projection& projection, const DescribedSteps& steps,
                             StepSimulator& simulator);

// At the most devices of one node and each strategy: other links, ddp's buckets, and two nodes
// in place of a whole one.
void add_changes(reports::Projection& projection, const DescribedSteps& steps,
                 StepSimulator& simulator);

// The least batch at which each strategy pays on each count of devices. The projection has
// decisions with their standing. Nothing where the step of one device is given, which is of one
// batch.
void add_least_batches(reports::Projection& projection, const DescribedSteps& steps,
                       const std::vector<int>& devices, StepSimulator& simulator);

}  // namespace tandem::cli
