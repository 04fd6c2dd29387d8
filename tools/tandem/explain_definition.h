// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>

#include "reports/ladder.h"

namespace tandem::cli {

// How launches are measured; a journal's own where one is added to.
struct MeasuringSettings {
  std::string backend = "auto";
  std::string min_time = "500ms";
  int min_samples = 10;
  bool oversubscribe = false;
  std::string site{};  // text_of(LaunchSite)
};

// What a journal's definition says, be it of a sweep or of an explanation.
struct PlannedBefore {
  MeasuringSettings settings;
  std::set<std::string> cells;  // by name
};

// Throws a failure that names `source` where it is neither.
[[nodiscard]] PlannedBefore planned_by(const std::string& definition, const std::string& source);

// The dispatch cost of an explanation that asked about this implementation; else empty.
[[nodiscard]] std::string dispatch_cost_in(const std::string& definition,
                                           const std::string& implementation);

// Everything that decides what an explanation of its own measures, as canonical JSON.
[[nodiscard]] std::string definition_of(const reports::GapQuestion& question, int launches,
                                        const MeasuringSettings& settings);

}  // namespace tandem::cli
