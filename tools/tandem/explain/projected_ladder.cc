// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/explain/projected_ladder.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "common/base/checksummed_file.h"
#include "common/base/error.h"
#include "common/options/strategies.h"
#include "common/results/files.h"
#include "reports/answer/report.h"
#include "reports/model/explanation.h"
#include "reports/model/subject.h"
#include "reports/render/formats.h"
#include "simulate/catalogue/catalogue.h"
#include "tools/tandem/launch/launcher.h"
#include "tools/tandem/process/child_process.h"
#include "tools/tandem/process/program_paths.h"
#include "tools/tandem/project/projecting.h"
#include "tools/tandem/report/output_folder.h"

namespace tandem::cli {
namespace {

namespace fs = std::filesystem;

using results::Cell;
using results::LaunchRecord;
using results::Status;

// Rungs have neither option, so that a step with one is no end of their ladder.
void check_is_plain(const ProjectedLadder& ladder) {
  std::string given;
  for (const LaunchRecord& record : ladder.source.document->launches) {
    const Cell& cell = record.cell;
    if (cell.model != ladder.question.model) continue;
    std::string flag;
    for (const char* const option : {"accumulate", "compress"}) {
      const std::string value = cell.option(option);
      if (!value.empty()) flag += fmt::format(" --{}={}", option, value);
    }
    if (flag.empty() && cell.strategy == options::name_of(options::StrategyKind::kDdp)) return;
    if (!flag.empty()) given = flag;
  }
  if (given.empty()) return;
  fail(ErrorKind::kUsage,
       "reading {}: its steps have{}, which the rungs from dp to ddp lack; run tandem project with "
       "neither --accumulate nor --compress, with another --out, and explain that folder",
       ladder.source.folder.string(), given);
}

// A launch of the question's model in its precision.
const LaunchRecord& alike(const ProjectedLadder& ladder) {
  const reports::GapQuestion& question = ladder.question;
  const auto& launches = ladder.source.document->launches;
  const auto found = std::ranges::find_if(launches, [&](const LaunchRecord& record) {
    return record.status == Status::kOk && record.cell.model == question.model &&
           reports::precision_of(record.cell) == question.precision;
  });
  if (found != launches.end()) return *found;
  fail(ErrorKind::kUsage,
       "reading {}: its launches are simulated, and none is of {} in {}; give a model and a "
       "precision that tandem project projected there",
       ladder.source.folder.string(), question.model, question.precision);
}

// The value that the folder's own commands gave an option, as "--option=VALUE" or "--option VALUE".
std::vector<fs::path> given_to(const std::string& option, const ExplainSource& source) {
  std::vector<fs::path> given;
  const std::string flag = "--" + option;
  for (const std::vector<std::string>& command : source.document->sweep.commands) {
    for (std::size_t i = 0; i < command.size(); ++i) {
      const std::string& word = command[i];
      if (word.starts_with(flag + "=")) given.emplace_back(word.substr(flag.size() + 1));
      if (word == flag && i + 1 < command.size()) given.emplace_back(command[i + 1]);
    }
  }
  return given;
}

// Whether a name with a checksum is of the catalogue and its figures are still the same.
bool is_in_catalogue(const std::string& named) {
  const std::string name = named.substr(0, named.find('#'));
  std::string now;
  const auto unknown = capture_error([&] { now = with_figures(name, "--hardware"); });
  return !unknown && now == named;
}

// The value that a name with a checksum stands for, as step_bench accepts it: a machine of the
// catalogue, or a file in the folder or where the folder's own command named it.
fs::path place_of(const std::string& option, const std::string& named,
                  const ExplainSource& source) {
  if (option == "hardware" && is_in_catalogue(named)) return named.substr(0, named.find('#'));
  std::vector<fs::path> places{source.folder / named.substr(0, named.find('#'))};
  std::ranges::copy(given_to(option, source), std::back_inserter(places));
  const std::string flag = "--" + option + "=";
  for (const fs::path& place : places) {
    std::error_code unreadable;
    if (!fs::exists(place, unreadable)) continue;
    if (name_in_results(with_checksum(place.string(), flag)) == named) return place;
  }
  fail(ErrorKind::kUsage,
       "reading {}: its launches were simulated with --{}={}, and no such file with that content "
       "is there any more; run tandem project again",
       source.folder.string(), option, named);
}

// The rungs that the folder has no launch of, by the files that step_bench reads.
std::vector<Cell> missing_cells(const ProjectedLadder& ladder) {
  std::set<std::string> there;
  for (const LaunchRecord& record : ladder.source.document->launches) {
    there.insert(record.cell.name());
  }
  std::map<std::string, std::string> files;
  std::vector<Cell> missing;
  for (const reports::RungCell& rung : reports::ladder_cells(ladder.question)) {
    if (!there.insert(rung.cell.name()).second) continue;
    missing.push_back(rung.cell);
    for (const auto& [option, named] : ladder.question.simulated) {
      if (option != "hardware" && option != "calibration") continue;
      std::string& file = files[option];
      if (file.empty()) file = place_of(option, named, ladder.source).string();
      missing.back().options[option] = file;
    }
  }
  return missing;
}

// Simulates what is missing and adds it to the folder's results.
void add_missing(ProjectedLadder& ladder, const std::string& model) {
  const std::vector<Cell> missing = missing_cells(ladder);
  if (missing.empty()) return;
  const OutputFolder folder(ladder.source.folder);
  const Interrupts interrupts;
  const Launcher launcher = projecting_launcher({.step_bench = find_step_bench(ladder.step_bench),
                                                 .model_files = {{ladder.question.model, model}}},
                                                folder.logs(), interrupts);
  results::Document& document = *ladder.source.document;
  StepSimulator simulator(launcher);
  for (LaunchRecord& record : simulator.steps(missing)) {
    document.launches.push_back(std::move(record));
  }
  document.sweep.planned_cells += static_cast<int>(missing.size());
  document.sweep.commands.push_back(ladder.command);
  folder.write(reports::make_report(document));
}

}  // namespace

bool is_projected(const ExplainSource& source) {
  return source.is_given && source.document && !source.document->launches.empty() &&
         std::ranges::all_of(source.document->launches,
                             [](const LaunchRecord& record) { return record.cell.is_simulated(); });
}

int explain_projected(ProjectedLadder ladder) {
  const std::string model = with_checksum(ladder.question.model, "--model");
  ladder.question.model = name_in_results(model);
  ladder.question.backend = results::kSimulated;
  check_is_plain(ladder);
  ladder.question.simulated = reports::what_is_simulated(alike(ladder).cell);
  add_missing(ladder, model);
  const results::Document& document = *ladder.source.document;
  const reports::Explanation explanation = reports::explain(document, ladder.question, 1);
  const OutputPaths out(ladder.source.folder);
  results::replace_file(out.explanation(), reports::to_markdown(explanation));
  fmt::print("{}{}\n", reports::to_terminal(explanation, reports::screen(ladder.has_details)),
             out.explanation().string());
  return explanation.stock_gap.seconds ? 0 : 1;
}

}  // namespace tandem::cli
