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

std::string center_alone(const stats::Estimate& seconds) {
  return fmt::format("{:.3f}", seconds.center * 1e3) + mark(seconds);
}

using Text = std::string (*)(const stats::Estimate&);

std::string remarks(const DdpCost& cost) {
  std::vector<std::string> marks = marks_of(*cost.ddp);
  if (!implementation_of(cost.ddp->cell).empty()) {
    marks.emplace_back("no parts: torch does not tell backward from its collectives");
  } else if (!cost.parts) {
    marks.emplace_back("no parts: phases were not timed");
  }
  return join(marks, ", ");
}

// Adds the cost's row: `figures`, the missing time and its parts by `text`, and remarks.
void add_cost(TextTable& table, const DdpCost& cost, std::vector<std::string> figures, Text text) {
  figures.push_back(text(cost.missing));
  for (const auto part : kCostParts) figures.push_back(cost.parts ? text(*cost.parts.*part) : "-");
  figures.push_back(remarks(cost));
  add_point(table, cost.ddp->cell, figures);
}

TextTable table_of_costs(std::vector<std::string> titles, const char* devices) {
  titles.insert(titles.end(), {">exposed transfer", ">skew", ">contention", ">bucket copies",
                               ">rest", "remarks"});
  return table_of_points(titles, devices);
}

}  // namespace

TextTable ddp_cost_table(const Summary& summary) {
  const char* const share = is_of_host_work(summary) ? ">host work of the bound / ddp [95 %]"
                                                     : ">share of the bound [95 %]";
  TextTable table =
      table_of_costs({"strategy", ">median step [95 %]", share, ">missing, ms [95 %]"}, ">devices");
  for (const DdpCost& cost : ddp_costs(summary)) {
    add_cost(table, cost,
             {strategy_label(cost.ddp->cell), duration_text(cost.ddp->median_step),
              ratio_text(cost.share)},
             with_interval);
  }
  return table;
}

TextTable brief_ddp_cost_table(const Summary& summary) {
  TextTable table = table_of_costs({"strategy", ">share [95 %]", ">missing, ms"}, ">dev");
  for (const DdpCost& cost : ddp_costs(summary)) {
    add_cost(table, cost, {strategy_label(cost.ddp->cell), ratio_text(cost.share)}, center_alone);
  }
  return table;
}

}  // namespace tandem::reports
