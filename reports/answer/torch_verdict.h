// SPDX-License-Identifier: Apache-2.0
//
// The verdict of what PyTorch itself measured, in PyTorch's own words.
#pragma once

#include <string>
#include <vector>

#include "reports/model/summary.h"

namespace tandem::reports {

// The implementation that answers beside Tandem's cells, "torch-2.15.0": the first one whose
// DataParallel and DistributedDataParallel were both measured on several devices, else the first
// one whose DistributedDataParallel was, where its DataParallel was tried in vain. Empty: none.
[[nodiscard]] std::string answering_implementation(const Summary& summary);

// One sentence over all workloads on the most devices with a comparison: the implementation's
// DistributedDataParallel against DataParallel; where there is none, on the most devices against
// one process and the bound.
[[nodiscard]] std::string torch_overall(const Summary& summary, const std::string& implementation);

// A sentence per workload on the most devices, and per workload whose comparison is on fewer, with
// intervals.
[[nodiscard]] std::vector<std::string> torch_sentences(const Summary& summary,
                                                       const std::string& implementation);

}  // namespace tandem::reports
