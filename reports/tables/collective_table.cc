// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "common/base/units.h"
#include "reports/model/ddp_cost.h"
#include "reports/model/exposed_communication.h"
#include "reports/model/notes.h"
#include "reports/model/subject.h"
#include "reports/tables/tables.h"
#include "reports/text/format.h"

namespace tandem::reports {
namespace {

// Clips the interval to [0, most], where the centre lies: a t interval may reach beyond that range.
stats::Estimate clipped(stats::Estimate estimate, double most) {
  if (!estimate.interval) return estimate;
  if (estimate.center >= 0) estimate.interval->low = std::max(estimate.interval->low, 0.0);
  if (estimate.center <= most) estimate.interval->high = std::min(estimate.interval->high, most);
  return estimate;
}

std::string percent_text(const stats::Estimate& share) {
  return fixed_text(clipped(share, 1), 1, " %", 100);
}

std::string milliseconds(const stats::Estimate& seconds) {
  return fixed_text(clipped(seconds, std::numeric_limits<double>::infinity()), 3, "", 1e3);
}

std::string remarks(const CommunicationTimes& times) {
  std::vector<std::string> marks = marks_of(*times.cell);
  if (times.cell->cell.options.contains("compress")) {
    marks.emplace_back("bytes before compression");
  }
  if (times.left_out > 0) {
    marks.push_back(
        fmt::format("{} without these buckets left out", count_text(times.left_out, "launch")));
  }
  return join(marks, ", ");
}

}  // namespace

TextTable collective_table(const Summary& summary) {
  TextTable table =
      table_of_points({"strategy", ">buckets", ">gradients", ">all collectives, ms [95 %]",
                       ">waited for, ms [95 %]", ">not waited for [95 %]", ">-last bucket's bytes",
                       ">-after backward, at least", "remarks"});
  for (const CommunicationTimes& times : communication_times(summary)) {
    const results::Cell& cell = times.cell->cell;
    add_point(
        table, cell,
        {strategy_label(cell), std::to_string(times.buckets.size()),
         to_string(Bytes{times.size_bytes()}), milliseconds(times.total),
         milliseconds(times.exposed), times.hidden_share ? percent_text(*times.hidden_share) : "-",
         fmt::format("{:.1f} %", 100 * times.last_share()),
         fmt::format("{:.1f} %", 100 * times.after_backward_share()), remarks(times)});
  }
  return table;
}

namespace {

// A part that is 0 in every launch, such as copies with --grads=views, needs no mark.
std::string mark(const stats::Estimate& seconds) {
  const bool is_absent = seconds.center == 0 && seconds.interval && seconds.interval->low == 0 &&
                         seconds.interval->high == 0;
  return is_absent || stats::is_resolved(seconds) ? "" : " ~";
}

std::string with_interval(const stats::Estimate& seconds) {
  return fixed_text(seconds, 3, "", 1e3) + mark(seconds);
}

std::string remarks(const DdpCost& cost) {
  std::vector<std::string> marks = marks_of(*cost.ddp);
  if (!implementation_of(cost.ddp->cell).empty()) {
    marks.emplace_back("no parts: torch does not tell backward from its collectives");
  } else if (!cost.parts) {
    marks.emplace_back("no parts: phases were not timed");
  }
  return join(marks, ", ");
}

}  // namespace

TextTable ddp_cost_table(const Summary& summary) {
  const char* const share = is_of_host_work(summary) ? ">host work of the bound / ddp [95 %]"
                                                     : ">share of the bound [95 %]";
  TextTable table = table_of_points({"strategy", ">-median step [95 %]", share,
                                     ">~missing, ms [95 %]", ">~exposed transfer", ">~skew",
                                     ">~contention", ">~bucket copies", ">~rest", "remarks"});
  for (const DdpCost& cost : ddp_costs(summary)) {
    std::vector<std::string> fields{strategy_label(cost.ddp->cell),
                                    duration_text(cost.ddp->median_step), ratio_text(cost.share),
                                    with_interval(cost.missing)};
    for (const auto part : kCostParts) {
      fields.push_back(cost.parts ? with_interval(*cost.parts.*part) : "-");
    }
    fields.push_back(remarks(cost));
    add_point(table, cost.ddp->cell, fields);
  }
  return table;
}

}  // namespace tandem::reports
