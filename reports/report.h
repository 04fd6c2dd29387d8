// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "common/results/document.h"
#include "reports/advice.h"
#include "reports/explanation.h"
#include "reports/summary.h"
#include "reports/verdict.h"

namespace tandem::reports {

// Everything that the terminal, Markdown, CSV and HTML show, worked out once so that they agree.
struct Report {
  results::Document document;
  Summary summary;
  VerdictText verdict;
  std::vector<Advice> advice;
  std::vector<Explanation> explanations;  // of points where the whole ladder was measured
};

[[nodiscard]] Report make_report(results::Document document);

// How the figures came about, a sentence each.
[[nodiscard]] std::vector<std::string> method_lines(const Report& report);

// The machine's facts, as name and value.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> machine_lines(const Report& report);

}  // namespace tandem::reports
