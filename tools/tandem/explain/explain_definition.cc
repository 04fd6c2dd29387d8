// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/explain/explain_definition.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "common/base/error.h"
#include "common/base/input_file.h"
#include "common/results/journal.h"
#include "tools/tandem/launch/torch_twin.h"
#include "tools/tandem/report/output_folder.h"
#include "tools/tandem/report/source_document.h"
#include "tools/tandem/run/measuring.h"
#include "tools/tandem/sweep/plan.h"
#include "tools/tandem/sweep/sweep.h"

namespace tandem::cli {

namespace {

using Json = nlohmann::ordered_json;

// The precision is written only where it is not the usual one: journals older than that option have
// none.
Json to_json(const reports::GapQuestion& question) {
  Json json{{"model", question.model},
            {"batch", question.batch},
            {"devices", question.devices},
            {"input", question.input},
            {"link", question.link},
            {"dispatch_cost", question.dispatch_cost},
            {"interpreter_lock", question.interpreter_lock},
            {"plant", question.plant}};
  if (question.precision != kUsualPrecision) json["precision"] = question.precision;
  if (question.implementation.empty()) return json;
  json["implementation"] = question.implementation;
  json["implementation_has_dp"] = question.implementation_has_dp;
  return json;
}

reports::GapQuestion question_from(const Json& json, const std::string& backend) {
  return {.model = name_in_results(json.at("model").get<std::string>()),
          .batch = json.at("batch").get<std::int64_t>(),
          .devices = json.at("devices").get<int>(),
          .backend = backend,
          .input = json.at("input").get<std::string>(),
          .precision = json.value("precision", kUsualPrecision),
          .link = json.at("link").get<std::string>(),
          .dispatch_cost = json.at("dispatch_cost").get<std::string>(),
          .interpreter_lock = json.at("interpreter_lock").get<bool>(),
          .plant = json.at("plant").get<std::string>(),
          .implementation = json.value("implementation", ""),
          .implementation_has_dp = json.value("implementation_has_dp", false)};
}

MeasuringSettings settings_from(const Json& json) {
  return {.backend = json.at("backend").get<std::string>(),
          .min_time = json.at("min_time").get<std::string>(),
          .min_samples = json.at("min_samples").get<int>(),
          .oversubscribe = json.at("oversubscribe").get<bool>(),
          .site = json.value("site", "")};
}

PlannedBefore read(Json json, const std::string& source) {
  PlannedBefore planned{.settings = settings_from(json), .cells = {}};
  if (json.contains("explain")) {
    for (const reports::RungCell& rung :
         reports::ladder_cells(question_from(json.at("explain"), planned.settings.backend))) {
      planned.cells.insert(rung.cell.name());
    }
    return planned;
  }
  json.erase("backend");
  json.erase("oversubscribe");
  json.erase("site");
  const std::string torch = json.value("torch", "");
  json.erase("torch");
  Sweep sweep = parse_sweep(json.dump(), source);
  // Journals older than names in results hold the folder of a model's file.
  for (Workload& workload : sweep.workloads) workload.model = name_in_results(workload.model);
  PlannedCells cells = plan_cells(sweep, planned.settings.backend);
  if (!torch.empty()) add_torch_cells(cells, torch, is_on_host(planned.settings.backend));
  for (const results::Cell& cell : cells.cells) planned.cells.insert(cell.name());
  return planned;
}

}  // namespace

PlannedBefore planned_by(const std::string& definition, const std::string& source) {
  const Json json = Json::parse(definition, nullptr, /*allow_exceptions=*/false);
  try {
    return read(json, source);
  } catch (const nlohmann::json::exception&) {
    fail(ErrorKind::kFailure,
         "reading {}: its first line does not say what was planned; was it written by tandem run?",
         source);
  }
}

std::string dispatch_cost_in(const std::string& definition, const std::string& implementation) {
  const Json json = Json::parse(definition, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("explain")) return "";
  const Json& question = json.at("explain");
  if (!question.is_object() || question.value("implementation", "") != implementation) return "";
  return question.value("dispatch_cost", "");
}

std::string definition_of(const reports::GapQuestion& question, int launches,
                          const MeasuringSettings& settings) {
  Json definition{{"explain", to_json(question)},  {"launches", launches},
                  {"min_time", settings.min_time}, {"min_samples", settings.min_samples},
                  {"backend", settings.backend},   {"oversubscribe", settings.oversubscribe}};
  if (!settings.site.empty()) definition["site"] = settings.site;
  return definition.dump();
}

namespace {

namespace fs = std::filesystem;

constexpr const char* kJournal = "journal.jsonl";
constexpr const char* kResults = "results.json";

std::optional<results::Document> from_journal(const fs::path& path) {
  return as_input([&]() -> std::optional<results::Document> {
    auto journal = results::read_journal(path);
    if (!journal) return std::nullopt;
    return results::Document{.sweep = std::move(journal->sweep),
                             .launches = std::move(journal->launches)};
  });
}

}  // namespace

ExplainSource find_source(const std::string& file, const std::string& out) {
  if (!file.empty() && !out.empty()) {
    fail(ErrorKind::kUsage,
         "tandem explain: give either FILE, whose journal it adds to, or --out for a journal of "
         "its own, not both");
  }
  if (file.empty()) {
    const fs::path folder = out.empty() ? new_folder("explain") : fs::path(out);
    return {.folder = folder,
            .is_given = false,
            .has_journal = true,
            .document = from_journal(folder / kJournal)};
  }
  const fs::path read = file_in(file);
  ExplainSource source{.folder = fs::absolute(read).parent_path(),
                       .is_given = true,
                       .has_journal = false,
                       .document = {}};
  const fs::path name = read.filename();
  if (name == kJournal || name == kResults)
    source.document = from_journal(source.folder / kJournal);
  source.has_journal = source.document.has_value();
  if (source.document) return source;
  const fs::path results = name == kJournal ? source.folder / kResults : read;
  std::error_code unreadable;
  source.document = load_document(fs::exists(results, unreadable) ? results : read);
  return source;
}

}  // namespace tandem::cli
