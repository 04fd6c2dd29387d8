// SPDX-License-Identifier: Apache-2.0
#include "reports/model/implementation.h"

namespace tandem::reports {

std::string implementation_of(const results::Cell& cell) {
  const auto found = cell.options.find(kImplementation);
  return found == cell.options.end() ? "" : found->second;
}

results::Cell own_cell(const results::Cell& cell) {
  results::Cell own = cell;
  own.options.erase(kImplementation);
  return own;
}

}  // namespace tandem::reports
