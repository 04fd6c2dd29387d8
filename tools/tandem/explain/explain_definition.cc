// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/explain/explain_definition.h"

#include <algorithm>
#include <array>

#include "common/base/checksummed_file.h"
#include "common/base/error.h"
#include "common/json/fields.h"
#include "common/json/parse.h"
#include "common/results/journal.h"
#include "tools/tandem/launch/torch_twin.h"
#include "tools/tandem/report/output_folder.h"
#include "tools/tandem/report/source_document.h"
#include "tools/tandem/run/measuring.h"
#include "tools/tandem/sweep/plan.h"
#include "tools/tandem/sweep/sweep.h"

namespace tandem::cli {

namespace {

namespace fs = std::filesystem;

// The precision is written only where it is not the usual one.
void write(JsonWriter& writer, std::string_view key, const reports::GapQuestion& question) {
  writer.open(key, '{');
  writer.value("model", question.model);
  writer.value("batch", question.batch);
  writer.value("devices", question.devices);
  writer.value("input", question.input);
  writer.value("dispatch_cost", question.dispatch_cost);
  writer.value("interpreter_lock", question.interpreter_lock);
  writer.value("plant", question.plant);
  if (question.precision != kUsualPrecision) writer.value("precision", question.precision);
  if (!question.implementation.empty()) {
    writer.value("implementation", question.implementation);
    writer.value("implementation_has_dp", question.implementation_has_dp);
  }
  if (!question.module.empty()) {
    writer.value("module", question.module);
    writer.value("optimizer", question.optimizer);
    if (question.finds_unused) writer.value("finds_unused", true);
  }
  writer.close();
}

reports::GapQuestion question_from(const JsonValue& json, const std::string& backend) {
  return {.model = name_in_results(read_as<std::string>(json.at("model"))),
          .batch = read_as<std::int64_t>(json.at("batch")),
          .devices = read_as<int>(json.at("devices")),
          .backend = backend,
          .input = read_as<std::string>(json.at("input")),
          .precision = value_or(json, "precision", std::string(kUsualPrecision)),
          .dispatch_cost = read_as<std::string>(json.at("dispatch_cost")),
          .interpreter_lock = json.at("interpreter_lock").boolean(),
          .plant = read_as<std::string>(json.at("plant")),
          .implementation = value_or(json, "implementation", std::string()),
          .implementation_has_dp = value_or(json, "implementation_has_dp", false),
          .finds_unused = value_or(json, "finds_unused", false),
          .module = value_or(json, "module", std::string()),
          .optimizer = value_or(json, "optimizer", std::string())};
}

MeasuringSettings settings_from(const JsonValue& json) {
  return {.backend = read_as<std::string>(json.at("backend")),
          .min_time = read_as<std::string>(json.at("min_time")),
          .min_samples = read_as<int>(json.at("min_samples")),
          .oversubscribe = json.at("oversubscribe").boolean(),
          .site = value_or(json, "site", std::string())};
}

// The text of the sweep file that a definition was made from.
std::string sweep_in(const JsonValue& definition) {
  constexpr std::array<std::string_view, 5> kOfThePlace{"backend", "oversubscribe", "site", "torch",
                                                        "torch_cells"};
  std::string text;
  JsonWriter writer(text);
  writer.open("", '{');
  for (const JsonValue member : definition) {
    const bool is_of_place = std::ranges::find(kOfThePlace, member.key()) != kOfThePlace.end();
    if (!is_of_place) writer.copy(member.key(), member);
  }
  writer.close();
  return text;
}

PlannedBefore read(const JsonValue& json, const std::string& source) {
  PlannedBefore planned{.settings = settings_from(json), .cells = {}};
  if (json.has("explain")) {
    for (const reports::RungCell& rung :
         reports::ladder_cells(question_from(json.at("explain"), planned.settings.backend))) {
      planned.cells.insert(rung.cell.name());
    }
    return planned;
  }
  const auto torch = value_or(json, "torch", std::string());
  const Sweep sweep = parse_sweep(sweep_in(json), source);
  PlannedCells cells = plan_cells(sweep, planned.settings.backend);
  if (!torch.empty()) {
    add_torch_cells(cells, torch, is_on_host(planned.settings.backend),
                    json.has("torch_cells") ? TorchCells::kPairs : TorchCells::kAll);
  }
  for (const results::Cell& cell : cells.cells) planned.cells.insert(cell.name());
  return planned;
}

constexpr const char* kJournal = "journal.jsonl";
constexpr const char* kResults = "results.json";

}  // namespace

PlannedBefore planned_by(const std::string& definition, const std::string& source) {
  const auto json = object_in(definition, source + ", what its first line plans");
  if (!json) {
    fail(ErrorKind::kFailure,
         "reading {}: its first line does not say what was planned; was it written by tandem run?",
         source);
  }
  return read(json->root(), source);
}

std::string definition_of(const reports::GapQuestion& question, int launches,
                          const MeasuringSettings& settings) {
  std::string text;
  JsonWriter writer(text);
  writer.open("", '{');
  write(writer, "explain", question);
  writer.value("launches", launches);
  writer.value("min_time", settings.min_time);
  writer.value("min_samples", settings.min_samples);
  writer.value("backend", settings.backend);
  writer.value("oversubscribe", settings.oversubscribe);
  if (!settings.site.empty()) writer.value("site", settings.site);
  writer.close();
  return text;
}

ExplainSource find_source(const std::string& file, const std::string& out) {
  if (!file.empty() && !out.empty()) {
    fail(ErrorKind::kUsage,
         "explain: give either FOLDER, whose journal it adds to, or --out for a journal of "
         "its own, not both");
  }
  if (file.empty()) {
    const fs::path folder = out.empty() ? new_folder("explain") : fs::path(out);
    return {
        .folder = folder, .has_journal = true, .document = document_of_journal(folder / kJournal)};
  }
  const fs::path read = file_in(file);
  ExplainSource source{.folder = fs::absolute(read).parent_path(), .is_given = true};
  const fs::path name = read.filename();
  if (name == kJournal || name == kResults)
    source.document = document_of_journal(source.folder / kJournal);
  source.has_journal = source.document.has_value();
  if (source.document) return source;
  const fs::path results = name == kJournal ? source.folder / kResults : read;
  std::error_code unreadable;
  source.document = load_document(fs::exists(results, unreadable) ? results : read);
  return source;
}

}  // namespace tandem::cli
