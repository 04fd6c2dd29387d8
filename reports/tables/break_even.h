// SPDX-License-Identifier: Apache-2.0
//
// The winner at each point: comparisons of dp and ddp laid out over model and batch.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reports/model/summary.h"
#include "reports/text/table.h"

namespace tandem::reports {

// Comparisons that may stand in one map: the devices, back end, precision, mode, modelled hardware
// and options are the same.
struct WinMap {
  std::string title;  // "2 devices, bf16"
  int devices = 0;
  bool is_modelled = false;
  std::vector<std::string> models;    // rows, by parameters
  std::vector<std::int64_t> batches;  // columns, rising
  // models.size() rows of batches.size() comparisons; nullptr where dp and ddp did not both
  // measure.
  std::vector<std::vector<const StrategyPair*>> pairs;
};

// The maps in the order of devices. The maps point into the summary.
[[nodiscard]] std::vector<WinMap> win_maps(const Summary& summary);

// The text of a map's cell: "ddp 1.47x", "dp 1.12x", "undecided 1.01x". The factor is the winner's
// speed over the loser's, or, where undecided, ddp's over dp's.
[[nodiscard]] std::string winner_text(const StrategyPair& pair);

// The interval of that factor, "1.43 .. 1.51"; empty where there is no interval.
[[nodiscard]] std::string speed_interval(const StrategyPair& pair);

// A table with a row per model, a column per batch, and in each cell the winner, the factor and its
// interval, with a shade by both.
[[nodiscard]] TextTable map_table(const WinMap& map);

// Sentences that say where the winner changes within the tested range, along the batch and along
// the devices, or that the winner does not change. A change lies only between two resolved
// points. Empty without comparisons on two devices or more.
[[nodiscard]] std::vector<std::string> break_even_lines(const Summary& summary);

// The range of the comparisons on two devices or more, "batch 64 to 512, 2 models, 2 devices";
// empty without such comparisons.
[[nodiscard]] std::string tested_range(const Summary& summary);

// Whether dp against ddp is resolved at any point on two devices or more.
[[nodiscard]] bool any_resolved(const Summary& summary);

// The sweep that would decide the open comparisons; empty where none is open.
[[nodiscard]] std::string deciding_sweep(const Summary& summary);

}  // namespace tandem::reports
