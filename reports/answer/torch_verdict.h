// SPDX-License-Identifier: Apache-2.0
//
// The verdict of what PyTorch itself measured, in PyTorch's own words.
#pragma once

#include <string>
#include <vector>

#include "reports/model/summary.h"

namespace tandem::reports {

// The implementation that answers beside Tandem's cells, "torch-2.15.0": the first one whose
// DataParallel and DistributedDataParallel were both measured on several devices. Empty: none.
[[nodiscard]] std::string answering_implementation(const Summary& summary);

// One sentence over all workloads at their largest device count: the implementation's
// DistributedDataParallel against DataParallel, or, where DataParallel did not measure, against one
// process and the bound.
[[nodiscard]] std::string torch_overall(const Summary& summary, const std::string& implementation);

// A sentence per workload at its largest device count, with intervals.
[[nodiscard]] std::vector<std::string> torch_sentences(const Summary& summary,
                                                       const std::string& implementation);

}  // namespace tandem::reports
