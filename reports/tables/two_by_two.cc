// SPDX-License-Identifier: Apache-2.0
#include "reports/tables/two_by_two.h"

#include <fmt/format.h>

#include <set>

#include "common/options/strategies.h"
#include "common/stats/comparison.h"
#include "reports/model/marks.h"
#include "reports/tables/points.h"
#include "reports/text/format.h"

namespace tandem::reports {
namespace {

using enum options::StrategyKind;

struct Corners {
  const CellSummary* dp = nullptr;
  const CellSummary* dp_allreduce = nullptr;
  const CellSummary* ddp_replicate = nullptr;
  const CellSummary* ddp = nullptr;
};

// The measured cell that differs from `dp` only in its strategy and launch.
const CellSummary* corner(const Summary& summary, const CellSummary& dp,
                          options::StrategyKind strategy) {
  for (const CellSummary& other : of_same_workload(summary.cells, dp.cell)) {
    if (other.cell.strategy != name_of(strategy) || other.launches == 0) continue;
    results::Cell cell = other.cell;
    cell.launch = dp.cell.launch;
    cell.strategy = dp.cell.strategy;
    if (cell == dp.cell && other.mode == dp.mode && other.modelled == dp.modelled) return &other;
  }
  return nullptr;
}

std::vector<Corners> all_corners(const Summary& summary) {
  std::vector<Corners> found;
  for (const CellSummary& cell : summary.cells) {
    if (cell.cell.strategy != name_of(kDp) || cell.launches == 0 || cell.cell.devices == 1)
      continue;
    const Corners corners{.dp = &cell,
                          .dp_allreduce = corner(summary, cell, kDpAllReduce),
                          .ddp_replicate = corner(summary, cell, kDdpReplicate),
                          .ddp = corner(summary, cell, kDdp)};
    const bool whole = corners.dp_allreduce != nullptr && corners.ddp_replicate != nullptr &&
                       corners.ddp != nullptr;
    if (whole) found.push_back(corners);
  }
  return found;
}

std::string speed(const CellSummary& slow, const CellSummary& fast) {
  return ratio_text(ratio_of(slow, fast));
}

std::string step(const CellSummary& cell) { return duration_text(cell.median_step); }

// The marks that apply to all four corners.
std::string remarks(const Corners& corners) {
  std::vector<std::string> marks;
  if (corners.dp->oversubscribed) marks.emplace_back("oversubscribed");
  if (!corners.dp->modelled.empty()) marks.push_back("modelled: " + corners.dp->modelled);
  return join(marks, ", ");
}

void add_rows(TextTable& table, const Corners& corners) {
  const std::string text = remarks(corners);
  const std::string suffix = text.empty() ? "" : " (" + text + ")";
  const auto add = [&](const std::string& launch, const std::string& replicate,
                       const std::string& all_reduce, const std::string& ratio) {
    add_point(table, corners.dp->cell, {launch + suffix, replicate, all_reduce, ratio});
  };
  add("threads", step(*corners.dp), step(*corners.dp_allreduce),
      speed(*corners.dp, *corners.dp_allreduce));
  add("processes", step(*corners.ddp_replicate), step(*corners.ddp),
      speed(*corners.ddp_replicate, *corners.ddp));
  add("speed of processes / threads", speed(*corners.dp, *corners.ddp_replicate),
      speed(*corners.dp_allreduce, *corners.ddp), "");
}

std::string in_words(const std::string& order) {
  if (order == "sequential") return "by copies, one peer after the other";
  if (order == "tree") return "by copies, in pairs";
  return "by collectives, which one thread calls for all devices";
}

// How the weights or gradients of the dp corners travelled.
std::string how(const Summary& summary, const std::string& option) {
  std::set<std::string> ways;
  for (const Corners& corners : all_corners(summary)) {
    for (const std::string& order : settled(*corners.dp, option)) ways.insert(in_words(order));
  }
  if (ways.empty()) return "in a way that these results do not tell";
  return join({ways.begin(), ways.end()}, " or ");
}

}  // namespace

std::string two_by_two_note(const Summary& summary) {
  return fmt::format(
      "Speed of processes / threads, of dp and ddp-replicate: more than the launch differs. "
      "ddp-replicate has collectives, which each rank calls; dp's weights went out {}; its "
      "gradients came back {}.",
      how(summary, "broadcast"), how(summary, "reduce"));
}

TextTable two_by_two_table(const Summary& summary) {
  TextTable table =
      table_of_points({"launched as", ">replicate, reduce (dp, ddp-replicate)",
                       ">all-reduce (dp-allreduce, ddp)", ">speed of all-reduce / replicate"});
  for (const Corners& corners : all_corners(summary)) add_rows(table, corners);
  return table;
}

}  // namespace tandem::reports
