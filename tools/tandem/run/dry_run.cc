// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/run/dry_run.h"

#include <fmt/format.h>

#include <map>
#include <numeric>

#include "common/base/text.h"

namespace tandem::cli {
namespace {

std::string line(const DryRun& run, std::size_t cell) {
  const int launches = run.launches[cell];
  return fmt::format("  {}: {}, {}\n", run.cells[cell].name(), count_text(launches, "launch"),
                     short_time(launches * run.times.of(cell)));
}

std::string head(const DryRun& run) {
  const int launches = std::accumulate(run.launches.begin(), run.launches.end(), 0);
  return fmt::format("{}, {} to go, about {} (a guess by the models' sizes; launches correct it)\n",
                     count_text(std::ssize(run.cells), "cell"), count_text(launches, "launch"),
                     short_time(run.times.total(run.launches)));
}

std::string not_measured(const DryRun& run) {
  std::string text;
  for (const results::DroppedCells& dropped : run.dropped) {
    text += fmt::format("not measured: {}: {}\n", count_text(std::ssize(dropped.cells), "cell"),
                        dropped.reason);
    for (const std::string& name : dropped.cells) text += fmt::format("  {}\n", name);
  }
  for (const std::string& axis : run.left_out) text += axis + "\n";
  return text;
}

}  // namespace

std::vector<results::DroppedCells> by_reason(const std::vector<DroppedCell>& dropped) {
  std::vector<results::DroppedCells> groups;
  std::map<std::string, std::size_t> places;
  for (const DroppedCell& cell : dropped) {
    const auto [place, is_new] = places.try_emplace(cell.reason, groups.size());
    if (is_new) groups.push_back({.reason = cell.reason, .cells = {}});
    groups[place->second].cells.push_back(cell.cell.name());
  }
  return groups;
}

std::string to_text(const DryRun& run) {
  std::string text = head(run);
  for (std::size_t cell = 0; cell < run.cells.size(); ++cell) text += line(run, cell);
  return text + not_measured(run);
}

std::string to_text(const DryRun& run, Seconds budget) {
  std::vector<bool> is_taken(run.cells.size(), false);
  std::string taken;
  for (const CellGroup& group :
       within(budget, most_informative_first(run.cells), run.launches, run.times)) {
    for (const std::size_t cell : group) {
      is_taken[cell] = true;
      taken += line(run, cell);
    }
  }
  std::string rest;
  for (std::size_t cell = 0; cell < run.cells.size(); ++cell) {
    if (!is_taken[cell] && run.launches[cell] > 0) rest += line(run, cell);
  }
  return fmt::format("{}within {}, the most informative first:\n{}left out:\n{}{}", head(run),
                     short_time(budget), taken, rest.empty() ? "  nothing\n" : rest,
                     not_measured(run));
}

}  // namespace tandem::cli
