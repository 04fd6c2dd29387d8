// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "common/results/document.h"
#include "reports/answer/verdict.h"
#include "reports/model/explanation.h"
#include "reports/model/summary.h"

namespace tandem::reports {

// A projection of the questions that a run answers, from a folder of its own.
struct ProjectedDocument {
  std::string name;  // of its folder
  results::Document document;
  Summary summary;  // points into the document
};

// The content that the terminal, Markdown, CSV and HTML show, computed once so that all agree.
struct Report {
  results::Document document;
  Summary summary;
  VerdictText verdict;
  std::vector<Advice> advice;
  std::vector<Explanation> explanations;       // points where the whole ladder was measured
  std::vector<ProjectedDocument> projected{};  // shown in panels of their own
};

[[nodiscard]] Report make_report(results::Document document,
                                 std::vector<ProjectedDocument> projected = {});

// Sentences that say how the figures were obtained.
[[nodiscard]] std::vector<std::string> method_lines(const Report& report);

// The machine's facts, by name.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> machine_lines(const Report& report);

}  // namespace tandem::reports
