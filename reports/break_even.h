// SPDX-License-Identifier: Apache-2.0
//
// Who wins where: comparisons of dp and ddp laid out over model and batch.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reports/summary.h"
#include "reports/table.h"

namespace tandem::reports {

// Comparisons that may stand in one map: the same devices, back end, precision, mode, models of
// hardware and options.
struct WinMap {
  std::string title;  // "2 devices, bf16"
  int devices = 0;
  bool is_modelled = false;
  std::vector<std::string> models;    // rows, by parameters
  std::vector<std::int64_t> batches;  // columns, rising
  // models.size() rows of batches.size(); nullptr: not both measured.
  std::vector<std::vector<const Comparison*>> pairs;
};

// In the order of devices. Points into the summary.
[[nodiscard]] std::vector<WinMap> win_maps(const Summary& summary);

// What stands in a cell: "ddp 1.47x", "dp 1.12x", "undecided 1.01x"; the factor is that of the
// winner's speed, undecided: ddp's over dp's.
[[nodiscard]] std::string winner_text(const Comparison& pair);

// "1.43 .. 1.51", the interval of ddp's speed over dp's; empty where there is none.
[[nodiscard]] std::string speed_interval(const Comparison& pair);

// A row per model, a column per batch, in each cell the winner and that interval.
[[nodiscard]] Table map_table(const WinMap& map);

// Where the winner changes within the tested range, along the batch and along the devices, a
// sentence each; where it does not, that it does not. A change is told only between two points
// that are each resolved. Empty without comparisons on two devices or more.
[[nodiscard]] std::vector<std::string> break_even_lines(const Summary& summary);

// "batch 64 to 512, 2 models, 2 devices": of comparisons on two devices or more; empty without.
[[nodiscard]] std::string tested_range(const Summary& summary);

// Whether dp against ddp is resolved at any point on two devices or more.
[[nodiscard]] bool any_resolved(const Summary& summary);

// The sweep that would decide what these comparisons leave open; empty where nothing is open.
[[nodiscard]] std::string deciding_sweep(const Summary& summary);

}  // namespace tandem::reports
