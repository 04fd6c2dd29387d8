// SPDX-License-Identifier: Apache-2.0
#include "common/results/sweep_json.h"

#include <array>
#include <string_view>
#include <vector>

#include "common/results/link_json.h"

namespace tandem::results {
namespace {

constexpr std::array kLibraryKeys{std::string_view{"date"},
                                  std::string_view{"host_name"},
                                  std::string_view{"executable"},
                                  std::string_view{"num_cpus"},
                                  std::string_view{"mhz_per_cpu"},
                                  std::string_view{"cpu_scaling_enabled"},
                                  std::string_view{"caches"},
                                  std::string_view{"load_avg"},
                                  std::string_view{"library_build_type"}};

bool is_library_key(std::string_view key) {
  for (const std::string_view name : kLibraryKeys) {
    if (key == name) return true;
  }
  return false;
}

Json to_json(const Context::Cache& cache) {
  return Json{{"type", cache.type},
              {"level", cache.level},
              {"size", cache.size},
              {"num_sharing", cache.num_sharing}};
}

Context::Cache cache_from(const JsonValue& json) {
  return {.type = value_or(json, "type", std::string{}),
          .level = value_or(json, "level", 0),
          .size = value_or<long long>(json, "size", 0),
          .num_sharing = value_or(json, "num_sharing", 0)};
}

DroppedCells dropped_from(const JsonValue& json) {
  return {.reason = value_or(json, "reason", std::string{}),
          .cells = value_or(json, "cells", std::vector<std::string>{})};
}

std::vector<std::string> command_from(const JsonValue& json) {
  std::vector<std::string> words;
  if (!json.get(words)) fail_value("commands", json);
  return words;
}

Addition addition_from(const JsonValue& json) {
  return {.cells = value_or(json, "cells", std::vector<std::string>{}),
          .launches_per_cell = value_or(json, "launches_per_cell", 0)};
}

}  // namespace

Json to_json(const Context& context) {
  Json caches = Json::array();
  for (const Context::Cache& cache : context.caches) caches.push_back(to_json(cache));
  Json json{{"date", context.date},
            {"host_name", context.host_name},
            {"executable", context.executable},
            {"num_cpus", context.num_cpus},
            {"mhz_per_cpu", context.mhz_per_cpu},
            {"cpu_scaling_enabled", context.cpu_scaling_enabled},
            {"caches", caches},
            {"load_avg", context.load_avg},
            {"library_build_type", context.library_build_type}};
  for (const auto& [key, value] : context.custom) json[key] = value;
  return json;
}

Context context_from(const JsonValue& json) {
  Context context;
  context.date = value_or(json, "date", context.date);
  context.host_name = value_or(json, "host_name", context.host_name);
  context.executable = value_or(json, "executable", context.executable);
  context.num_cpus = value_or(json, "num_cpus", context.num_cpus);
  context.mhz_per_cpu = value_or(json, "mhz_per_cpu", context.mhz_per_cpu);
  context.cpu_scaling_enabled = value_or(json, "cpu_scaling_enabled", context.cpu_scaling_enabled);
  context.caches = list_from<Context::Cache>(json, "caches", cache_from);
  context.load_avg = value_or(json, "load_avg", context.load_avg);
  context.library_build_type = value_or(json, "library_build_type", context.library_build_type);
  json.for_each([&context](const JsonValue& member) {
    std::string text;
    if (!is_library_key(member.key()) && member.get(text)) context.custom[member.key()] = text;
  });
  return context;
}

Json to_json(const SweepInfo& sweep) {
  Json additions = Json::array();
  for (const Addition& addition : sweep.additions) {
    additions.push_back(
        Json{{"cells", addition.cells}, {"launches_per_cell", addition.launches_per_cell}});
  }
  Json dropped = Json::array();
  for (const DroppedCells& cells : sweep.dropped) {
    dropped.push_back(Json{{"reason", cells.reason}, {"cells", cells.cells}});
  }
  return Json{{"name", sweep.name},
              {"definition", sweep.definition},
              {"planned_cells", sweep.planned_cells},
              {"launches_per_cell", sweep.launches_per_cell},
              {"dropped", dropped},
              {"additions", additions},
              {"commands", sweep.commands}};
}

SweepInfo sweep_from(const JsonValue& json) {
  SweepInfo sweep;
  sweep.name = value_or(json, "name", sweep.name);
  sweep.definition = value_or(json, "definition", sweep.definition);
  sweep.planned_cells = value_or(json, "planned_cells", 0);
  sweep.launches_per_cell = value_or(json, "launches_per_cell", 0);
  sweep.dropped = list_from<DroppedCells>(json, "dropped", dropped_from);
  sweep.additions = list_from<Addition>(json, "additions", addition_from);
  sweep.commands = list_from<std::vector<std::string>>(json, "commands", command_from);
  return sweep;
}

Json machine_to_json(const SweepInfo& sweep) {
  Json json = Json::object();
  if (sweep.links) json["links"] = to_json(*sweep.links);
  return json;
}

std::optional<LinkMatrix> links_of_machine(const JsonValue& json) {
  if (!json.find("links")) return std::nullopt;
  return object_from(json, "links", links_from);
}

}  // namespace tandem::results
