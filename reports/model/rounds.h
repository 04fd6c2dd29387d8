// SPDX-License-Identifier: Apache-2.0
//
// Two documents that one run measured in turns, a round after the other: their launches are pairs.
#pragma once

#include <string>
#include <vector>

#include "common/results/document.h"
#include "reports/model/summary.h"

namespace tandem::reports {

// Whether the documents are the two sides of one run, in either order.
[[nodiscard]] bool are_of_one_run(const results::Document& a, const results::Document& b);

// The names of the options that only the reference's cells have; none unless the documents are of
// one run. Without these options a cell has the name of its partner.
[[nodiscard]] std::vector<std::string> options_of_reference(const results::Document& a,
                                                            const results::Document& b);

// A figure of the launches of two cells of one run, a value each for the rounds that both have.
struct RoundValues {
  std::vector<double> before;
  std::vector<double> after;
};

[[nodiscard]] RoundValues medians_in_rounds(const CellSummary& before, const CellSummary& after);

// The energy of a step, of the rounds in which the GPUs of both cells tell it.
[[nodiscard]] RoundValues joules_in_rounds(const CellSummary& before, const CellSummary& after);

// What a reference was: "the build /before, with NCCL_ALGO=Ring, --grads=views".
[[nodiscard]] std::string reference_text(const results::Against& against);

// What a side of a run was, where the document is one: "the reference (the build /before, with
// NCCL_ALGO=Ring, --grads=views), commit 0123456789ab", or "the run itself, commit ...".
[[nodiscard]] std::string side_text(const results::Document& document);

}  // namespace tandem::reports
