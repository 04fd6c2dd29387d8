// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "bench/job/job.h"
#include "bench/step/step_options.h"

namespace tandem::bench {

// Names and values of what was measured and where, for files that hold one cell: the cell's
// options, and strategy, launch, model, batch, devices, backend and oversubscribed.
[[nodiscard]] std::map<std::string, std::string> cell_facts(const Place& place,
                                                            const StepOptions& options);

}  // namespace tandem::bench
