// SPDX-License-Identifier: Apache-2.0
#include "common/results/document.h"

#include "common/results/benchmark_entries.h"
#include "common/results/files.h"
#include "common/results/record_json.h"
#include "common/results/schema.h"
#include "common/results/sweep_json.h"

namespace tandem::results {
namespace {

Json tandem_key(const Document& document) {
  Json launches = Json::array();
  for (const LaunchRecord& record : document.launches) launches.push_back(to_json(record));
  return Json{{"schema_version", kSchemaVersion},
              {"sweep", to_json(document.sweep)},
              {"launches", std::move(launches)}};
}

Document document_from(const Json& json, std::string_view source) {
  const auto found = json.find("tandem");
  if (found == json.end()) {
    fail(ErrorKind::kFailure, "it has no key 'tandem'; give a results.json that tandem wrote");
  }
  check_schema_version(value_or(*found, "schema_version", std::string{}), source);
  Document document;
  document.sweep = sweep_from(value_or(*found, "sweep", Json::object()));
  document.sweep.context = context_from(value_or(json, "context", Json::object()));
  for (const Json& launch : value_or(*found, "launches", Json::array())) {
    document.launches.push_back(record_from(launch));
  }
  for (const Json& entry : value_or(json, "benchmarks", Json::array())) {
    const std::string measured_by = value_or(entry, "tandem_source", std::string());
    if (!measured_by.empty())
      document.others.push_back({.source = measured_by, .json = dump(entry)});
  }
  return document;
}

Json all_entries(const Document& document) {
  Json entries = benchmark_entries(document.launches);
  for (const OtherEntry& other : document.others) {
    entries.push_back(parse_json(other.json, other.source));
  }
  return entries;
}

}  // namespace

std::string to_json_text(const Document& document) {
  return dump_pretty(Json{{"context", to_json(document.sweep.context)},
                          {"benchmarks", all_entries(document)},
                          {"tandem", tandem_key(document)}});
}

Document parse_document(std::string_view text, std::string_view source) {
  const Json json = parse_json(text, source);
  try {
    return document_from(json, source);
  } catch (const Error& error) {
    const std::string_view reason = error.what();
    if (reason.starts_with("reading ")) throw;  // names its source already
    fail(ErrorKind::kFailure, "reading {}: {}", source, reason);
  } catch (const nlohmann::json::exception&) {
    fail(ErrorKind::kFailure, "reading {}: a field's type is not that of a result", source);
  }
}

void write_document(const std::filesystem::path& path, const Document& document) {
  replace_file(path, to_json_text(document));
}

Document read_document(const std::filesystem::path& path) {
  return parse_document(read_file(path), path.string());
}

}  // namespace tandem::results
