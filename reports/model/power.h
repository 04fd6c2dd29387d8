// SPDX-License-Identifier: Apache-2.0
//
// What difference the launches of a comparison tell, measured ones or ones to come, and how many
// launches it takes to tell a small one.
#pragma once

#include <string>
#include <vector>

#include "common/stats/power.h"
#include "reports/model/document_change.h"
#include "reports/model/summary.h"

namespace tandem::reports {

// A difference that a user would want to be told, as a ratio.
inline constexpr double kSmallDifference = 1.03;

// A comparison whose scatter is known.
struct Telling {
  std::string what;           // "mlp-small batch 512 on 2 devices"
  stats::RoundsAhead rounds;  // those that were measured, 3 at least: fewer tell no scatter
  double least = 1;           // ratios below it do not count as a difference
};

// dp against ddp on several devices. None in resolving documents, which go on until they tell.
[[nodiscard]] std::vector<Telling> tellings(const results::Document& document,
                                            const Summary& summary);

// Each cell against itself in the other document; none where the documents are of two runs.
[[nodiscard]] std::vector<Telling> tellings(const DocumentChange& changes);

// "What 6 launches tell in four of five such sweeps: differences from 4.1 % (mlp-small batch 512 on
// 2 devices) to 12 % (mlp-base batch 64 on 2 devices) on. To tell 3 % takes 11 to 60 launches."
// Empty without a comparison.
[[nodiscard]] std::string power_text(const std::vector<Telling>& tellings);

// The same of `launches` per cell that are planned, by those measured so far: `sides` are a run
// and, behind it, its reference, where it has one.
[[nodiscard]] std::string foretold(const std::vector<results::Document>& sides, int launches);

}  // namespace tandem::reports
