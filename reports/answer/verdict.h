// SPDX-License-Identifier: Apache-2.0
//
// The answer: what to use, the advice, and the verdict, of Tandem and of PyTorch in its own words.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "common/results/document.h"
#include "reports/model/summary.h"
#include "reports/text/blocks.h"
#include "reports/text/section_words.h"
#include "reports/text/table.h"

namespace tandem::reports {

// "ddp is 1.80 times as fast as dp (95 % interval 1.7 to 1.9, 6 launches each)", that both are
// equal, or that the comparison is not resolved. `evidence` (", 6 launches each") may be empty.
[[nodiscard]] std::string speeds_text(const StrategyPair& pair, const std::string& dp,
                                      const std::string& ddp, const std::string& evidence);

// A sentence that advises an action, or a fact to know before the action.
struct Advice {
  std::string text;
  Heading evidence;  // of the section that shows why
  bool is_fact = false;
};

// The advice that the results support, most workloads first at their largest device count: what
// limits dp and ddp, what ddp's copies cost, the best bucket size, devices without work, the root's
// memory, and the sweep that would decide open comparisons.
[[nodiscard]] std::vector<Advice> advice(const Summary& summary);

// The implementation that answers beside Tandem's cells, "torch-2.15.0": the first one whose
// DataParallel and DistributedDataParallel were both measured on several devices, else the first
// one whose DistributedDataParallel was, where its DataParallel was tried in vain. Empty: none.
[[nodiscard]] std::string answering_implementation(const Summary& summary);

// A sentence over all workloads on the most devices with a comparison: the implementation's
// DistributedDataParallel against DataParallel; where there is none, on the most devices against
// one process and the bound. Then a sentence per workload on the most devices, and per workload
// whose comparison is on fewer, with intervals; that of a sole workload is the first.
[[nodiscard]] std::pair<std::string, std::vector<std::string>> torch_answer(
    const Summary& summary, const std::string& implementation);

// The answer in words, in reading order.
struct VerdictText {
  // The measured hardware: "CPU only: 2 cores of <model>, says nothing about GPUs".
  std::string subject;
  // A warning: the points at which several devices are slower than one; empty if there are none.
  std::string slower;
  // All workloads in a sentence, then the reason of each side's lead where phases show it.
  std::string overall;
  // The model and batch of the largest lead beyond doubt, which charts open with; empty without.
  std::string lead_model;
  std::int64_t lead_batch = 0;
  // The strategy to use, a row per workload; the rows of choice_table().
  TextTable choices;
  // The steps at the point of the largest lead, or of the first comparison.
  Bars steps;
  // The range within which the answer holds: "Tested: batch 64 to 512, 2 models, 2 devices."; empty
  // without comparisons on several devices.
  std::string tested;
  // What limits the steps of a projection, and what fits; empty of measurements.
  std::string limits;
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

}  // namespace tandem::reports
