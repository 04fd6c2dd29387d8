// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "common/results/document.h"
#include "reports/summary.h"

namespace tandem::reports {

// The answer in words, in the order in which it is to be read.
struct VerdictText {
  // What was measured: "CPU only: 2 cores of <model>, says nothing about GPUs".
  std::string subject;
  // One sentence over all workloads.
  std::string overall;
  // A sentence per workload at its largest device count: which is faster, by how much, how sure.
  std::vector<std::string> workloads;
  // What has to be known beside it: unfinished, failed, skipped, oversubscribed, modelled.
  std::vector<std::string> notes;
};

[[nodiscard]] VerdictText verdict(const results::Document& document, const Summary& summary);

// The verdict as lines of plain text.
[[nodiscard]] std::string to_text(const VerdictText& verdict);

}  // namespace tandem::reports
