// SPDX-License-Identifier: Apache-2.0
#include "reports/model/transfers.h"

#include <vector>

#include "reports/format.h"

namespace tandem::reports {

std::set<std::string> settled(const CellSummary& cell, const std::string& option) {
  std::set<std::string> values;
  for (const results::LaunchRecord* launch : cell.measured) {
    const auto found = launch->resolved.find(option);
    if (found != launch->resolved.end()) values.insert(found->second);
  }
  return values;
}

std::string transfers_mark(const CellSummary& cell) {
  std::vector<std::string> by_collectives;
  for (const auto& [option, what] : {std::pair{"broadcast", "weights"}, {"reduce", "gradients"}}) {
    const std::set<std::string> values = settled(cell, option);
    if (values.size() > 1) return std::string(what) + " not sent alike in all launches";
    if (values.contains("collective") && !cell.cell.options.contains(option)) {
      by_collectives.emplace_back(what);
    }
  }
  return by_collectives.empty() ? "" : join(by_collectives, " and ") + " by collectives";
}

}  // namespace tandem::reports
