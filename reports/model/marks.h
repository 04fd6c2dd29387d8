// SPDX-License-Identifier: Apache-2.0
//
// What must stand beside a cell's figures so that readers do not misread them.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "reports/model/summary.h"

namespace tandem::reports {

// The marks of a cell, in reading order: "oversubscribed", "modelled: ...", "drifts: ...", ...
[[nodiscard]] std::vector<std::string> marks_of(const CellSummary& summary);

// "; most launches were disturbed (others took their time)" behind a comparison, where the figures
// of one cell, which is named, or of both are of disturbed launches for lack of others. Else empty.
[[nodiscard]] std::string disturbed_words(const StrategyPair& pair, const std::string& dp,
                                          const std::string& ddp);

// The marks of an unsteady cell: "drifts: +5.2 % from first to last launch", "two modes: 4 launches
// at 3.2 ms, 2 at 3.9 ms", "steps in two modes in 3 of 6 launches".
[[nodiscard]] std::vector<std::string> unsteady_marks(const Unsteadiness& found);

// The mark that says that weights or gradients travelled by collectives though the cell's name does
// not say so, or not alike in all launches. Empty where neither is the case.
[[nodiscard]] std::string transfers_mark(const CellSummary& cell);

// Whether a GPU computed attention by products and softmax, where PyTorch has a fused kernel.
[[nodiscard]] bool has_unfused_attention(const CellSummary& cell);

// Whether a GPU rounded factors of convolutions to tf32 in a cell of fp32, as torch's default lets
// it.
[[nodiscard]] bool has_tf32_convolutions(const CellSummary& cell);

// The values that an option that leaves the choice to the machine, such as dp's "broadcast" and
// "reduce", took in the cell's measured launches: "sequential", "tree", "collective". Empty where
// the records do not tell.
[[nodiscard]] std::set<std::string> settled(const CellSummary& cell, const std::string& option);

}  // namespace tandem::reports
