// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "reports/model/summary.h"
#include "reports/text/section_words.h"

namespace tandem::reports {

// A sentence that advises an action, or a fact to know before the action.
struct Advice {
  std::string text;
  Heading evidence;  // of the section that shows why
};

// The advice that the results support, most workloads first at their largest device count: what
// limits dp and ddp, what ddp's copies cost, the best bucket size, devices without work, the root's
// memory, and the sweep that would decide open comparisons.
[[nodiscard]] std::vector<Advice> advice(const Summary& summary);

}  // namespace tandem::reports
