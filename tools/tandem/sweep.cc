// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/sweep.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <nlohmann/json.hpp>
#include <span>

#include "common/base/error.h"
#include "common/base/pinned_file.h"
#include "common/base/units.h"

namespace tandem::cli {
namespace {

using Json = nlohmann::ordered_json;

// Reads one object of the file; every error names the file, where in it, and the key.
class Reader {
 public:
  Reader(const Json& object, std::string where) : object_(object), where_(std::move(where)) {
    if (!object.is_object()) complain("must be an object, such as {\"model\": \"mlp-small\"}");
  }

  [[noreturn]] void complain(const std::string& what) const {
    fail(ErrorKind::kUsage, "{}: {}", where_, what);
  }

  void allow(std::initializer_list<std::string_view> keys) const {
    for (const auto& [key, value] : object_.items()) {
      if (std::find(keys.begin(), keys.end(), key) != keys.end()) continue;
      complain(fmt::format("unknown key '{}'; known are {}", key, fmt::join(keys, ", ")));
    }
  }

  [[nodiscard]] bool has(const char* key) const { return object_.contains(key); }

  [[nodiscard]] const Json& at(const char* key) const {
    if (!has(key)) complain(fmt::format("key '{}' is missing", key));
    return object_.at(key);
  }

  [[nodiscard]] std::string text(const char* key) const {
    const Json& value = at(key);
    if (!value.is_string() || value.get<std::string>().empty()) {
      complain(fmt::format("key '{}' must be a text that is not empty", key));
    }
    return value.get<std::string>();
  }

  // A whole number from 1, or a list of them.
  [[nodiscard]] std::vector<std::int64_t> counts(const char* key) const {
    const Json& value = at(key);
    std::vector<std::int64_t> numbers;
    for (const Json& element : value.is_array() ? value : Json::array({value})) {
      if (!element.is_number_integer() || element.get<std::int64_t>() < 1 ||
          element.get<std::int64_t>() > 1'000'000'000) {
        complain(fmt::format("key '{}' holds {}: it must be a whole number from 1", key,
                             element.dump()));
      }
      numbers.push_back(element.get<std::int64_t>());
    }
    if (numbers.empty()) complain(fmt::format("key '{}' is empty", key));
    return numbers;
  }

  // A text that is one of `known`, or a list of such.
  [[nodiscard]] std::vector<std::string> names(const char* key,
                                               std::span<const std::string_view> known) const {
    const Json& value = at(key);
    std::vector<std::string> found;
    for (const Json& element : value.is_array() ? value : Json::array({value})) {
      const std::string name = element.is_string() ? element.get<std::string>() : element.dump();
      if (std::find(known.begin(), known.end(), name) == known.end()) {
        complain(fmt::format("key '{}' holds {}: known are {}", key, element.dump(),
                             fmt::join(known, ", ")));
      }
      found.push_back(name);
    }
    if (found.empty()) complain(fmt::format("key '{}' is empty", key));
    return found;
  }

  [[nodiscard]] int count(const char* key, int fallback) const {
    if (!has(key)) return fallback;
    const std::vector<std::int64_t> numbers = counts(key);
    if (numbers.size() != 1) complain(fmt::format("key '{}' must be one number", key));
    return static_cast<int>(numbers.front());
  }

  [[nodiscard]] std::vector<std::pair<const Json*, std::string>> objects(const char* key) const {
    const Json& value = at(key);
    if (!value.is_array() || value.empty()) {
      complain(fmt::format("key '{}' must be a list that is not empty", key));
    }
    std::vector<std::pair<const Json*, std::string>> found;
    for (const Json& element : value) {
      found.emplace_back(&element, fmt::format("{}, {}[{}]", where_, key, found.size()));
    }
    return found;
  }

 private:
  const Json& object_;
  std::string where_;
};

void add_workloads(const Reader& sweep, std::vector<Workload>& workloads) {
  for (const auto& [json, where] : sweep.objects("workloads")) {
    const Reader reader(*json, where);
    reader.allow({"model", "batch", "precision"});
    const std::vector<std::string> precisions = reader.has("precision")
                                                    ? reader.names("precision", kPrecisions)
                                                    : std::vector<std::string>{kUsualPrecision};
    for (const std::string& precision : precisions) {
      for (const std::int64_t batch : reader.counts("batch")) {
        workloads.push_back(
            {.model = reader.text("model"), .batch = batch, .precision = precision});
      }
    }
  }
}

// Values as the command line takes them: true and false are written on and off.
std::string option_text(const Json& value, const Reader& reader, const std::string& name) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean()) return value.get<bool>() ? "on" : "off";
  if (!value.is_number()) reader.complain("option '" + name + "' must be a text or a number");
  return value.dump();
}

// What the sweep says elsewhere, or tandem itself.
void check_option_name(const std::string& name, const Reader& reader) {
  constexpr std::array<std::string_view, 15> kNotOptions{
      "strategy",   "launch",        "model",       "batch",  "devices",
      "backend",    "min-time",      "min-samples", "record", "check",
      "flight-dir", "oversubscribe", "verify",      "ab",     "pairs"};
  if (std::find(kNotOptions.begin(), kNotOptions.end(), name) == kNotOptions.end()) return;
  reader.complain(
      fmt::format("option '{}' is none of a strategy's: a sweep has keys of its own for "
                  "what is measured, and tandem says the rest",
                  name));
}

void check_strategy(const Strategy& strategy, const Reader& reader) {
  constexpr std::array<std::string_view, 6> kStrategies{
      "single", "independent", "dp", "dp-allreduce", "ddp", "ddp-replicate"};
  if (std::find(kStrategies.begin(), kStrategies.end(), strategy.strategy) == kStrategies.end()) {
    reader.complain(fmt::format("strategy '{}' is unknown; known are {}", strategy.strategy,
                                fmt::join(kStrategies, ", ")));
  }
  if (strategy.launch != "threads" && strategy.launch != "processes") {
    reader.complain("launch '" + strategy.launch + "' is unknown; known are threads, processes");
  }
  const bool one_process = strategy.strategy == "dp" || strategy.strategy == "dp-allreduce" ||
                           strategy.strategy == "single";
  if (one_process && strategy.launch == "processes") {
    reader.complain("strategy '" + strategy.strategy + "' is one process: its launch is threads");
  }
}

Strategy read_strategy(const Json& json, const std::string& where) {
  const Json object = json.is_string() ? Json{{"strategy", json}} : json;
  const Reader reader(object, where);
  reader.allow({"strategy", "launch", "options"});
  Strategy strategy{.strategy = reader.text("strategy"), .launch = {}, .options = {}};
  if (strategy.strategy == "independent" && !reader.has("launch")) {
    reader.complain("key 'launch' is missing: independent is run as threads or as processes");
  }
  const bool processes = strategy.strategy == "ddp" || strategy.strategy == "ddp-replicate";
  strategy.launch = reader.has("launch") ? reader.text("launch")
                    : processes          ? "processes"
                                         : "threads";
  check_strategy(strategy, reader);
  if (!reader.has("options")) return strategy;
  if (!reader.at("options").is_object()) reader.complain("key 'options' must be an object");
  for (const auto& [name, value] : reader.at("options").items()) {
    check_option_name(name, reader);
    strategy.options[name] = option_text(value, reader, name);
  }
  return strategy;
}

std::string available(const std::vector<std::filesystem::path>& folders) {
  std::vector<std::string> names;
  for (const std::filesystem::path& folder : folders) {
    std::error_code absent;
    for (const auto& entry : std::filesystem::directory_iterator(folder, absent)) {
      if (entry.path().extension() == ".json") names.push_back(entry.path().stem().string());
    }
    if (!names.empty()) break;
  }
  std::sort(names.begin(), names.end());
  return fmt::format("{}", fmt::join(names, ", "));
}

Sweep load_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file.is_open() || std::filesystem::is_directory(path)) {
    fail(ErrorKind::kUsage, "reading sweep {}: there is no such file; check the path",
         path.string());
  }
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  Sweep sweep = parse_sweep(text, path.string());
  for (Workload& workload : sweep.workloads) {
    workload.model = pinned_name(workload.model, "sweep " + path.string(), path.parent_path());
  }
  return sweep;
}

// Where the syntax breaks, by line and column (in bytes), both from 1.
Json parse_json(std::string_view text, const std::string& where) {
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& error) {
    const std::string_view before = text.substr(0, std::max<std::size_t>(error.byte, 1) - 1);
    const auto line = std::count(before.begin(), before.end(), '\n') + 1;
    const std::size_t column = before.size() - (before.rfind('\n') + 1) + 1;
    fail(ErrorKind::kUsage, "{}: it is not valid JSON, from line {}, column {}; mend it", where,
         line, column);
  } catch (const Json::exception&) {
    fail(ErrorKind::kUsage, "{}: it is not valid JSON: a number is out of range; mend it", where);
  }
}

}  // namespace

Sweep parse_sweep(std::string_view text, const std::string& source) {
  const std::string where = "sweep " + source;
  const Json json = parse_json(text, where);
  const Reader reader(json, where);
  reader.allow({"name", "description", "workloads", "devices", "strategies", "launches", "min_time",
                "min_samples"});
  Sweep sweep;
  sweep.name = reader.text("name");
  if (reader.has("description")) sweep.description = reader.text("description");
  add_workloads(reader, sweep.workloads);
  for (const std::int64_t count : reader.counts("devices")) {
    sweep.devices.push_back(static_cast<int>(count));
  }
  for (const auto& [strategy, place] : reader.objects("strategies")) {
    sweep.strategies.push_back(read_strategy(*strategy, place));
  }
  sweep.launches = reader.count("launches", sweep.launches);
  sweep.min_samples = reader.count("min_samples", sweep.min_samples);
  if (reader.has("min_time")) sweep.min_time = reader.text("min_time");
  (void)parse_duration(sweep.min_time, where + ", key 'min_time'");
  return sweep;
}

Sweep load_sweep(const std::string& name, const std::vector<std::filesystem::path>& folders) {
  if (name.find('/') != std::string::npos || name.ends_with(".json")) return load_file(name);
  for (const std::filesystem::path& folder : folders) {
    const std::filesystem::path path = folder / (name + ".json");
    if (std::filesystem::exists(path)) return load_file(path);
  }
  fail(ErrorKind::kUsage, "sweep '{}' is unknown; known are {}, or give the path of a .json file",
       name, available(folders));
}

std::string definition_of(const Sweep& sweep, const SweepPlace& place) {
  Json workloads = Json::array();
  for (const Workload& workload : sweep.workloads) {
    Json json{{"model", workload.model}, {"batch", workload.batch}};
    // Journals of before this key have none.
    if (workload.precision != kUsualPrecision) json["precision"] = workload.precision;
    workloads.push_back(json);
  }
  Json strategies = Json::array();
  for (const Strategy& strategy : sweep.strategies) {
    strategies.push_back(Json{{"strategy", strategy.strategy},
                              {"launch", strategy.launch},
                              {"options", strategy.options}});
  }
  Json definition{{"name", sweep.name},
                  {"workloads", workloads},
                  {"devices", sweep.devices},
                  {"strategies", strategies},
                  {"launches", sweep.launches},
                  {"min_time", sweep.min_time},
                  {"min_samples", sweep.min_samples},
                  {"backend", place.backend},
                  {"oversubscribe", place.oversubscribe}};
  if (!place.site.empty()) definition["site"] = place.site;
  return definition.dump();
}

}  // namespace tandem::cli
