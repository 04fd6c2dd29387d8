// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/explain/explain_task.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "common/base/checksummed_file.h"
#include "common/base/error.h"
#include "common/base/units.h"
#include "common/options/values.h"
#include "tools/tandem/run/measuring.h"

namespace tandem::cli {
namespace {

using results::LaunchRecord;
using results::Status;

constexpr const char* kMeasured = "auto";  // the value of --dispatch-cost

void check_question(const reports::GapQuestion& question) {
  if (question.batch < 1) {
    fail(ErrorKind::kUsage, "--batch: {} holds no sample; use 1 or more", question.batch);
  }
  if (question.devices < 2) {
    fail(ErrorKind::kUsage,
         "--devices: on {} there is nothing to exchange, so no gap to explain; use 2 or more",
         question.devices == 1 ? "1 device" : "no device");
  }
  const std::int64_t left = question.batch % question.devices;
  if (left != 0) {
    const std::int64_t less = question.batch - left;
    fail(ErrorKind::kUsage,
         "--batch: {} devices do not divide {} samples evenly, which ddp refuses; use {}{}",
         question.devices, question.batch, less > 0 ? fmt::format("{} or ", less) : "",
         less + question.devices);
  }
}

void check_models(const reports::GapQuestion& question) {
  const std::vector<std::string_view> inputs = options::choices_of("input", "dp");
  if (std::ranges::find(inputs, question.input) == inputs.end()) {
    fail(ErrorKind::kUsage, "--input: '{}' is unknown; known are {}", question.input,
         fmt::join(inputs, ", "));
  }
  options::check_form("precision", question.precision);
  if (!question.dispatch_cost.empty() && question.dispatch_cost != kMeasured)
    (void)parse_duration(question.dispatch_cost, "--dispatch-cost");
  if (question.interpreter_lock && question.dispatch_cost.empty()) {
    fail(ErrorKind::kUsage,
         "--interpreter-lock: without a --dispatch-cost nothing holds the lock; give one, such as "
         "--dispatch-cost=8us");
  }
}

MeasuringSettings settings_of(const ExplainOptions& options, MeasuringSettings settings) {
  if (!options.backend.empty()) settings.backend = checked_backend(options.backend);
  if (!options.min_time.empty()) settings.min_time = options.min_time;
  if (options.oversubscribe) settings.oversubscribe = true;
  (void)parse_duration(settings.min_time, "--min-time");
  return settings;
}

// Keeps the dispatch cost of an explanation in the same folder: two costs would make two charts.
std::string measured_dispatch_cost(const ExplainTask& task) {
  if (!task.torch) {
    fail(
        ErrorKind::kUsage,
        "--dispatch-cost=auto: it is measured with torch; add --with-torch, or give a cost such as "
        "8us");
  }
  if (task.source.document) {
    const std::string& definition = task.source.document->sweep.definition;
    const std::string before = dispatch_cost_in(definition, task.torch->name);
    if (!before.empty()) return before;
  }
  return dispatch_cost_of(*task.torch);
}

void add_torch(ExplainTask& task, const ExplainOptions& options) {
  if (!options.torch.empty()) {
    task.torch = find_torch_twin(options.torch, checked_site(options.site));
  }
  if (task.torch) {
    task.question.implementation = task.torch->name;
    task.question.implementation_has_dp = !is_on_host(task.settings.backend);
  }
  if (options.question.dispatch_cost == kMeasured) {
    task.question.dispatch_cost = measured_dispatch_cost(task);
  }
}

// Throws a usage error where the rungs' back ends differ: rungs on a CPU and on GPUs make no
// ladder.
void check_one_backend(const ExplainTask& task) {
  if (!task.source.document) return;
  std::string seen = task.settings.backend == "auto" ? "" : task.settings.backend;
  for (const LaunchRecord& record : task.source.document->launches) {
    if (record.status != Status::kOk || !is_rung(record, task)) continue;
    if (seen.empty()) seen = record.cell.backend;
    if (record.cell.backend == seen) continue;
    fail(ErrorKind::kUsage,
         "reading {}: {} was measured on the back end {}, not on {}; explain each in a folder of "
         "its own",
         task.source.folder.string(), record.cell.name(), record.cell.backend, seen);
  }
}

}  // namespace

ExplainTask task_of(const ExplainOptions& options) {
  check_question(options.question);
  check_models(options.question);
  const std::string model = with_checksum(options.question.model, "--model");
  ExplainTask task{.question = options.question,
                   .launches = options.launches,
                   .settings = {},
                   .source = find_source(options.source, options.out),
                   .planned = {},
                   .cells = {},
                   .model_files = {{name_in_results(model), model}}};
  task.question.model = name_in_results(model);
  PlannedBefore before;
  if (task.source.is_given) {
    before = planned_by(task.source.document->sweep.definition, task.source.folder.string());
  }
  task.planned = std::move(before.cells);
  task.settings = settings_of(options, before.settings);
  if (!task.source.is_given) task.settings.site = text_of(checked_site(options.site));
  task.question.backend = task.settings.backend;
  add_torch(task, options);
  for (const reports::RungCell& rung : reports::ladder_cells(task.question)) {
    task.cells.push_back(rung.cell);
  }
  check_one_backend(task);
  return task;
}

bool is_rung(const LaunchRecord& record, const ExplainTask& task) {
  return std::ranges::any_of(
      task.cells, [&](const results::Cell& cell) { return cell.name() == record.cell.name(); });
}

int launches_missing(const ExplainTask& task) {
  int missing = 0;
  for (const results::Cell& cell : task.cells) {
    std::set<int> done;
    bool skipped = false;
    if (task.source.document) {
      for (const LaunchRecord& record : task.source.document->launches) {
        if (record.cell.name() != cell.name()) continue;
        skipped = skipped || record.status == Status::kSkipped;
        const bool counts = record.status == Status::kOk && record.launch_index < task.launches;
        if (counts) done.insert(record.launch_index);
      }
    }
    if (!skipped) missing += task.launches - static_cast<int>(done.size());
  }
  return missing;
}

std::vector<results::Addition> with_missing_rungs(const ExplainTask& task,
                                                  const results::SweepInfo& sweep) {
  results::Addition addition{.cells = {}, .launches_per_cell = task.launches};
  for (const results::Cell& cell : task.cells) {
    const std::string name = cell.name();
    const auto plans_it = [&](const results::Addition& other) {
      return other.launches_per_cell >= task.launches &&
             std::ranges::find(other.cells, name) != other.cells.end();
    };
    const bool is_planned =
        task.planned.contains(name) || std::ranges::any_of(sweep.additions, plans_it);
    if (!is_planned) addition.cells.push_back(name);
  }
  std::vector<results::Addition> additions = sweep.additions;
  if (!addition.cells.empty()) additions.push_back(std::move(addition));
  return additions;
}

}  // namespace tandem::cli
