// SPDX-License-Identifier: Apache-2.0
#include "reports/render/comparisons_csv.h"

#include <fmt/format.h>

#include <cmath>

#include "reports/format.h"
#include "reports/render/csv_text.h"

namespace tandem::reports {
namespace {

std::string planted_in(const Comparison& pair) {
  std::vector<std::string> parts;
  for (const CellSummary* cell : {pair.dp, pair.ddp}) {
    if (!cell->planted.empty()) parts.push_back(cell->cell.strategy + " " + cell->planted);
  }
  return join(parts, "; ");
}

// The field of an interval's end; empty where the end is unbounded.
std::string end_text(double value) { return std::isfinite(value) ? csv_figure(value) : ""; }

std::vector<std::string> fields_of(const Comparison& pair) {
  const results::Cell& dp = pair.dp->cell;
  const results::Cell& ddp = pair.ddp->cell;
  const auto& interval = pair.ddp_speed.interval;
  return {dp.model,
          std::to_string(dp.global_batch),
          std::to_string(dp.devices),
          dp.backend,
          pair.dp->mode,
          dp.launch,
          options_column(dp),
          ddp.launch,
          options_column(ddp),
          pair.dp->modelled,
          planted_in(pair),
          pair.dp->oversubscribed || pair.ddp->oversubscribed ? "1" : "0",
          csv_figure(pair.dp->median_step.center),
          csv_figure(pair.ddp->median_step.center),
          csv_figure(pair.ddp_speed.center),
          interval ? end_text(interval->low) : "",
          interval ? end_text(interval->high) : "",
          std::to_string(pair.dp->launches),
          std::to_string(pair.ddp->launches),
          std::string(to_string(pair.ddp_verdict))};
}

}  // namespace

std::string to_comparisons_csv(const Summary& summary) {
  std::string text = fmt::format(
      "model,global_batch,devices,backend,mode,dp_launch,dp_options,ddp_launch,ddp_options,{},"
      "dp_median_step_s,ddp_median_step_s,ddp_speed,ddp_speed_low,ddp_speed_high,dp_launches,"
      "ddp_launches,ddp_is\n",
      kMarkColumns);
  for (const Comparison& pair : summary.comparisons) text += csv_row(fields_of(pair));
  return text;
}

}  // namespace tandem::reports
