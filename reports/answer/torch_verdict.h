// SPDX-License-Identifier: Apache-2.0
//
// The verdict where PyTorch alone was measured, in PyTorch's own words.
#pragma once

#include <string>
#include <vector>

#include "reports/model/summary.h"

namespace tandem::reports {

// One sentence over all workloads at their largest device count: DistributedDataParallel against
// DataParallel, or, where DataParallel did not measure, against one process and the bound.
[[nodiscard]] std::string torch_overall(const Summary& summary);

// A sentence per workload at its largest device count, with intervals.
[[nodiscard]] std::vector<std::string> torch_sentences(const Summary& summary);

}  // namespace tandem::reports
