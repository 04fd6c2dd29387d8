// SPDX-License-Identifier: Apache-2.0
#include "reports/tables/ddp_cost_table.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "reports/model/ddp_cost.h"
#include "reports/model/marks.h"
#include "reports/model/subject.h"
#include "reports/tables/points.h"
#include "reports/text/format.h"

namespace tandem::reports {
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
