// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/results/document.h"
#include "reports/model/summary.h"
#include "reports/text/table.h"

namespace tandem::reports {

// The answer in words, in reading order.
struct VerdictText {
  // The measured hardware: "CPU only: 2 cores of <model>, says nothing about GPUs".
  std::string subject;
  // What users must know first: where several devices are slower than one; empty where none are.
  std::string slower;
  // One sentence over all workloads, with the reason of each side's lead where phases tell it.
  std::string overall;
  // The model and batch of the largest lead beyond doubt, which charts open with; empty without.
  std::string lead_model;
  std::int64_t lead_batch = 0;
  // What to use, a row per workload; the rows of choice_table().
  TextTable choices;
  // The range within which the answer holds: "Tested: batch 64 to 512, 2 models, 2 devices."; empty
  // without comparisons on several devices.
  std::string tested;
  // Where the winner changes within the range, or that the winner does not change; the sweep that
  // would decide, where nothing is decided. A dozen sentences at most, as in first_sentences().
  std::vector<std::string> breaks;
  // A sentence per workload at its largest device count: the faster strategy, the factor and the
  // certainty.
  std::vector<std::string> workloads;
  // The notes to know beside the verdict: unfinished, failed, skipped, oversubscribed, modelled.
  std::vector<std::string> notes;
};

[[nodiscard]] VerdictText verdict(const results::Document& document, const Summary& summary);

// At most a dozen sentences, then the number of further ones.
[[nodiscard]] std::vector<std::string> first_sentences(std::vector<std::string> sentences);

// The two sentences that come first, `slower` and `overall`.
[[nodiscard]] std::string headline(const VerdictText& verdict);

}  // namespace tandem::reports
