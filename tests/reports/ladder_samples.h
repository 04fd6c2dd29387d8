// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "common/results/document.h"
#include "reports/model/ladder.h"

namespace tandem::reports {

inline GapQuestion sample_question() {
  return {.model = "mlp-small",
          .batch = 64,
          .devices = 2,
          .backend = "host",
          .input = "host",
          .dispatch_cost = "",
          .interpreter_lock = false,
          .plant = ""};
}

// What a cell takes, in seconds.
using CostModel = std::function<double(const results::Cell&)>;

inline bool has_option(const results::Cell& cell, const char* option, const char* value) {
  return cell.option(option) == value;
}

// Every cause costs a power of two of milliseconds, so that any sum shows which ones are in it:
// threads 1, transfers 2, loss 4, replication 8, input 16, one bucket 32, no overlap 64, threads of
// one process 128, copied gradients 256; all else takes 512.
inline double power_of_two_costs(const results::Cell& cell) {
  const bool dp = cell.strategy == "dp";
  int ms = 512;
  if (dp && !has_option(cell, "threads", "kept")) ms += 1;
  if (dp && !has_option(cell, "replicate", "flat")) ms += 2;
  if (dp && !has_option(cell, "loss", "replicas")) ms += 4;
  if (dp) ms += 8;
  if (dp || has_option(cell, "input", "scatter")) ms += 16;
  if (dp || has_option(cell, "bucket-mb", "all")) ms += 32;
  if (dp || has_option(cell, "overlap", "off")) ms += 64;
  if (cell.launch == "threads") ms += 128;
  if (cell.strategy == "ddp" && !has_option(cell, "grads", "views")) ms += 256;
  return ms * 1e-3;
}

// Launches of every rung; the times of one rung differ by `scatter` seconds around the cost, and
// rise and fall in turns of rungs.
inline results::Document ladder_document(const GapQuestion& question, const CostModel& cost,
                                         double scatter = 0, int launches = 3) {
  results::Document document;
  for (const RungCell& rung : ladder_cells(question)) {
    scatter = -scatter;
    for (int i = 0; i < launches; ++i) {
      results::LaunchRecord record;
      record.cell = rung.cell;
      record.launch_index = i;
      record.step_seconds.assign(4, cost(rung.cell) + scatter * (i - (launches - 1) / 2.0));
      record.machine.cpu_model = "Test CPU";
      record.machine.cores = 2;
      document.launches.push_back(record);
    }
  }
  return document;
}

}  // namespace tandem::reports
