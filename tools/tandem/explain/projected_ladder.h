// SPDX-License-Identifier: Apache-2.0
//
// The ladder of simulated cells: what tandem explain says of a folder of tandem project.
#pragma once

#include <string>
#include <vector>

#include "reports/model/ladder.h"
#include "tools/tandem/explain/explain_definition.h"

namespace tandem::cli {

// Whether the source's launches are simulated, all of them.
[[nodiscard]] bool is_projected(const ExplainSource& source);

struct ProjectedLadder {
  reports::GapQuestion question;  // its model is a name or a file
  ExplainSource source;
  std::string step_bench{};  // empty: the one beside tandem
  std::vector<std::string> command{};
  bool has_details = false;
};

// Simulates the rungs that the folder lacks, on the same calibration or description, adds them to
// its results, and prints the ladder. Returns the exit code of `tandem explain`. Throws a usage
// error where the folder has no launch of the model and precision, or its calibration or
// description is not there any more.
[[nodiscard]] int explain_projected(ProjectedLadder ladder);

}  // namespace tandem::cli
