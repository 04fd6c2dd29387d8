// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/results/sweep_info.h"
#include "reports/ladder.h"
#include "tools/tandem/explain_command.h"
#include "tools/tandem/explain_definition.h"
#include "tools/tandem/explain_source.h"
#include "tools/tandem/sweep.h"
#include "tools/tandem/torch_twin.h"

namespace tandem::cli {

// All that was settled before anything is measured.
struct ExplainTask {
  reports::GapQuestion question;
  int launches = 0;
  MeasuringSettings settings;
  ExplainSource source;
  std::set<std::string> planned;  // cells of the journal's own sweep
  std::vector<results::Cell> cells;
  std::optional<TorchTwin> torch{};
  ModelFiles model_files;  // of the question
};

// Reads what there is. Throws usage errors: of options, of FILE, and where rungs were measured on
// another back end.
[[nodiscard]] ExplainTask task_of(const ExplainOptions& options);

[[nodiscard]] bool is_rung(const results::LaunchRecord& record, const ExplainTask& task);

// Launches of the rungs that are yet to be measured.
[[nodiscard]] int launches_missing(const ExplainTask& task);

// The additions of the sweep, and the rungs that neither it nor they plan so often.
[[nodiscard]] std::vector<results::Addition> with_missing_rungs(const ExplainTask& task,
                                                                const results::SweepInfo& sweep);

}  // namespace tandem::cli
