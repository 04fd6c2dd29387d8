// SPDX-License-Identifier: Apache-2.0
#include "reports/tables/dropped.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "reports/text/format.h"

namespace tandem::reports {
namespace {

// Reads "/name:value" parts; a value may hold slashes, in a file, and colons, in a link.
std::map<std::string, std::string> options_in(const std::string& text) {
  std::map<std::string, std::string> options;
  std::string last;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('/', at + 1), text.size());
    const std::string part = text.substr(at + 1, end - at - 1);
    const std::size_t colon = part.find(':');
    if (colon == std::string::npos && !last.empty()) {
      options[last] += "/" + part;
    } else {
      last = part.substr(0, colon);
      options[last] = colon == std::string::npos ? "" : part.substr(colon + 1);
    }
    at = end;
  }
  return options;
}

}  // namespace

results::Cell cell_named(const std::string& name) {
  results::Cell cell;
  const std::size_t launch = name.find('/');
  const std::size_t model = launch == std::string::npos ? launch : name.find('/', launch + 1);
  const std::size_t devices =
      model == std::string::npos ? model : name.find("/devices:", model + 1);
  const std::size_t batch = devices == std::string::npos ? devices : name.find("/batch:", devices);
  if (batch == std::string::npos) {
    cell.model = name;
    return cell;
  }
  cell.strategy = name.substr(0, launch);
  cell.launch = name.substr(launch + 1, model - launch - 1);
  cell.model = name.substr(model + 1, devices - model - 1);
  cell.devices = std::atoi(name.c_str() + devices + 9);
  cell.global_batch = std::strtoll(name.c_str() + batch + 7, nullptr, 10);
  const std::size_t options = name.find('/', batch + 1);
  if (options != std::string::npos) cell.options = options_in(name.substr(options));
  return cell;
}

TextTable dropped_table(const results::SweepInfo& sweep) {
  TextTable table({"why", "cells", "which"});
  for (const results::DroppedCells& dropped : sweep.dropped) {
    table.rows.push_back(
        {dropped.reason, std::to_string(dropped.cells.size()), join(dropped.cells, ", ")});
  }
  return table;
}

std::vector<std::string> dropped_lines(const results::SweepInfo& sweep) {
  std::vector<std::string> lines;
  for (const results::DroppedCells& dropped : sweep.dropped) {
    lines.push_back(fmt::format("not measured: {}: {}",
                                count_text(std::ssize(dropped.cells), "cell"), dropped.reason));
  }
  return lines;
}

}  // namespace tandem::reports
