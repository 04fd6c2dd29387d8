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
  // The range within which that holds: "Tested: batch 64 to 512, 2 models, 2 devices."; empty
  // without comparisons on several devices.
  std::string tested;
  // Where the winner changes within it, or that it does not; what would decide, where nothing is
  // decided. A dozen at most, as first_sentences().
  std::vector<std::string> breaks;
  // A sentence per workload at its largest device count: which is faster, by how much, how sure.
  std::vector<std::string> workloads;
  // What has to be known beside it: unfinished, failed, skipped, oversubscribed, modelled.
  std::vector<std::string> notes;
};

[[nodiscard]] VerdictText verdict(const results::Document& document, const Summary& summary);

// At most a dozen, then how many further ones there are.
[[nodiscard]] std::vector<std::string> first_sentences(std::vector<std::string> sentences);

// The verdict as lines of plain text.
[[nodiscard]] std::string to_text(const VerdictText& verdict);

}  // namespace tandem::reports
