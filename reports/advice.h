// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reports/summary.h"

namespace tandem::reports {

// Something to do, or to know before doing it.
struct Advice {
  std::string text;
  std::string evidence;  // the part of the page that shows it: "phases", "buckets", "cells", ...
};

// The title of that section, which is the Markdown's too.
[[nodiscard]] std::string_view evidence_title(const Advice& advice);

// What these results advise, most workloads first at their largest device count: what limits dp and
// ddp, what ddp's copies cost, the best bucket size, devices without work, the root's memory, and
// what would decide what is open. Nothing that the results do not show.
[[nodiscard]] std::vector<Advice> advice(const Summary& summary);

}  // namespace tandem::reports
