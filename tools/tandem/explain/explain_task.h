// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/results/sweep_info.h"
#include "reports/model/ladder.h"
#include "tools/tandem/explain/explain_command.h"
#include "tools/tandem/explain/explain_definition.h"
#include "tools/tandem/launch/torch_twin.h"
#include "tools/tandem/sweep/sweep.h"

namespace tandem::cli {

// The decisions that are settled before any measurement.
struct ExplainTask {
  reports::GapQuestion question;
  int launches = 0;
  MeasuringSettings settings;
  ExplainSource source;
  std::set<std::string> planned;  // cells of the journal's own sweep
  std::vector<results::Cell> cells;
  std::optional<TorchTwin> torch{};
  ModelFiles model_files;  // the files of the question's model
};

// Reads the options and the source. Throws usage errors about options, about FILE, and about rungs
// that were measured on another back end.
[[nodiscard]] ExplainTask task_of(const ExplainOptions& options);

[[nodiscard]] bool is_rung(const results::LaunchRecord& record, const ExplainTask& task);

// The number of the rungs' launches that are still to be measured.
[[nodiscard]] int launches_missing(const ExplainTask& task);

// The additions of the sweep, extended by the rungs that neither the sweep nor its additions plan
// with enough launches.
[[nodiscard]] std::vector<results::Addition> with_missing_rungs(const ExplainTask& task,
                                                                const results::SweepInfo& sweep);

}  // namespace tandem::cli
