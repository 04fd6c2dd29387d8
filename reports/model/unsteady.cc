// SPDX-License-Identifier: Apache-2.0
#include "reports/model/unsteady.h"

#include <fmt/format.h>

#include <algorithm>

#include "reports/format.h"

namespace tandem::reports {
namespace {

std::string time_text(double seconds) {
  return duration_text({.center = seconds, .interval = std::nullopt, .launches = 1});
}

template <class Predicate>
void add_line(std::vector<std::string>& lines, const Summary& summary, const char* what,
              const char* meaning, Predicate shows) {
  const auto cells =
      std::count_if(summary.cells.begin(), summary.cells.end(),
                    [&](const CellSummary& cell) { return shows(cell.unsteadiness); });
  if (cells > 0)
    lines.push_back(fmt::format("{} in {}: {}", what, count_text(cells, "cell"), meaning));
}

}  // namespace

std::vector<std::string> unsteady_marks(const Unsteadiness& found) {
  std::vector<std::string> marks;
  if (found.drift) {
    marks.push_back(
        fmt::format("drifts: {:+.1f} % from first to last launch", 100 * found.drift->change));
  }
  if (found.modes) {
    marks.push_back(fmt::format(
        "two modes: {} at {}, {} at {}", count_text(found.modes->low_count, "launch"),
        time_text(found.modes->low), found.modes->high_count, time_text(found.modes->high)));
  }
  if (found.steps_in_modes()) {
    marks.push_back(fmt::format("steps in two modes in {} of {}", found.launches_in_modes,
                                count_text(found.launches_with_enough_steps, "launch")));
  }
  return marks;
}

std::vector<std::string> unsteady_notes(const Summary& summary) {
  std::vector<std::string> lines;
  add_line(lines, summary, "drift",
           "launches became slower or faster as the run went on, so that their intervals, which "
           "take them as independent, say too much; of 100 steady cells at most one is marked so",
           [](const Unsteadiness& found) { return found.drift.has_value(); });
  add_line(lines, summary, "two modes",
           "launches gather around two times, between which the figures lie; where memory or "
           "threads came to lie may decide, and another run may have another mixture",
           [](const Unsteadiness& found) { return found.modes.has_value(); });
  add_line(lines, summary, "steps in two modes",
           "within half of the launches or more, steps gather around two times, as where a clock "
           "changes or something else runs at intervals",
           [](const Unsteadiness& found) { return found.steps_in_modes(); });
  return lines;
}

}  // namespace tandem::reports
