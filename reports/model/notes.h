// SPDX-License-Identifier: Apache-2.0
//
// Remarks beside a cell's figures, and notes beside a verdict.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/results/document.h"
#include "reports/model/summary.h"

namespace tandem::reports {

// The marks of a cell, in reading order: "oversubscribed", "modelled: ...", "drifts: ...", ...
[[nodiscard]] std::vector<std::string> marks_of(const CellSummary& summary);

// "; most launches were disturbed (others took their time)" behind a comparison, where the figures
// of one cell, which is named, or of both are of disturbed launches for lack of others. Else empty.
[[nodiscard]] std::string disturbed_words(const StrategyPair& pair, const std::string& dp,
                                          const std::string& ddp);

// Whether a GPU computed attention by products and softmax, where PyTorch has a fused kernel.
[[nodiscard]] bool has_unfused_attention(const CellSummary& cell);

// Whether a GPU rounded factors of convolutions to tf32 in a cell of fp32, as torch's default lets
// it.
[[nodiscard]] bool has_tf32_convolutions(const CellSummary& cell);

// The values that an option that leaves the choice to the machine, such as dp's "broadcast" and
// "reduce", took in the cell's measured launches: "sequential", "tree", "collective". Empty where
// the records do not say.
[[nodiscard]] std::set<std::string> settled(const CellSummary& cell, const std::string& option);

// Launches that the plan asks for and that neither ran nor were ruled out by a skipped cell.
[[nodiscard]] int launches_missing(const results::SweepInfo& sweep, const Summary& summary);

// The notes beside a verdict that keep readers from misreading it: an unfinished sweep, cells
// without a figure and the reason, the marks of any cell.
[[nodiscard]] std::vector<std::string> notes(const results::Document& document,
                                             const Summary& summary);

// The facts, by name, about the GPUs of the measured launch with the most GPUs: their kinds, the
// driver, and the connections between them. Empty on the host.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> gpu_facts(
    const results::Document& document);

// A line per kind of doubt that the driver's readings cast on a figure: clocks held down, other
// work on the GPUs, threads far from the GPUs, a GPU divided into instances. No lines on the host.
[[nodiscard]] std::vector<std::string> gpu_notes(const results::Document& document);

// The mark beside a figure: how much of the measurement the clocks of the worst GPU were held down,
// and by what cause. Where the driver counts no time, the mark names a cause at the readings
// before and after. Empty where no cause is known.
[[nodiscard]] std::string slowdown_mark(const CellSummary& cell);

// The mark beside a figure whose GPUs' clocks still drifted when the warm-up ended at its cap: by
// how much at most. Empty where they were steady or cannot be read.
[[nodiscard]] std::string clock_mark(const CellSummary& cell);

}  // namespace tandem::reports
