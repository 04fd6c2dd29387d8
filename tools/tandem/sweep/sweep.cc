// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/sweep/sweep.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "common/base/json_text.h"
#include "common/base/known_names.h"
#include "common/base/units.h"
#include "tools/tandem/sweep/constraint_reader.h"
#include "tools/tandem/sweep/device_counts.h"
#include "tools/tandem/sweep/sweep_axes.h"
#include "tools/tandem/sweep/sweep_reader.h"

namespace tandem::cli {
namespace {

constexpr int kMostLaunches = 1000;      // launches per cell, as in --launches
constexpr int kMostSamples = 100'000;    // samples per launch; the record keeps every sample
constexpr Seconds kLongestLaunch{3600};  // six times the usual time-out of a launch
constexpr std::size_t kMostWorkloads = 10'000;

std::vector<std::string> precisions_of(const SweepReader& reader) {
  if (!reader.has("precision")) return {kUsualPrecision};
  return reader.names("precision", kPrecisions);
}

void add_workloads(const SweepReader& file, Sweep& sweep) {
  for (const auto& [json, where] : file.objects("workloads")) {
    const SweepReader reader(*json, where);
    reader.allow({"model", "batch", "batch_per_device", "precision"});
    const bool is_per_device = reader.has("batch_per_device");
    if (is_per_device == reader.has("batch")) {
      reader.complain("give one of 'batch' (over all devices) and 'batch_per_device'");
    }
    const std::vector<std::string> models = reader.texts("model");
    if (models.size() > 1) sweep.model_series.push_back(models);
    for (const std::string& precision : precisions_of(reader)) {
      for (const std::int64_t batch : reader.counts(is_per_device ? "batch_per_device" : "batch")) {
        for (const std::string& model : models) {
          if (sweep.workloads.size() == kMostWorkloads) {
            reader.complain(
                fmt::format("more than {} workloads; use several sweeps", kMostWorkloads));
          }
          sweep.workloads.push_back({.model = model,
                                     .batch = batch,
                                     .precision = precision,
                                     .is_per_device = is_per_device});
        }
      }
    }
  }
}

void check_strategy(const Strategy& strategy, const SweepReader& reader) {
  constexpr std::array<std::string_view, 6> kStrategies{
      "single", "independent", "dp", "dp-allreduce", "ddp", "ddp-replicate"};
  if (std::find(kStrategies.begin(), kStrategies.end(), strategy.strategy) == kStrategies.end()) {
    reader.complain(fmt::format("strategy {} is unknown{}; known are {}", quoted(strategy.strategy),
                                did_you_mean(strategy.strategy, kStrategies),
                                fmt::join(kStrategies, ", ")));
  }
  if (strategy.launch != "threads" && strategy.launch != "processes") {
    reader.complain(
        fmt::format("launch {} is unknown; known are threads, processes", quoted(strategy.launch)));
  }
  const bool one_process = strategy.strategy == "dp" || strategy.strategy == "dp-allreduce" ||
                           strategy.strategy == "single";
  if (one_process && strategy.launch == "processes") {
    reader.complain("strategy '" + strategy.strategy + "' is one process: its launch is threads");
  }
}

Strategy read_strategy(const SweepJson& json, const std::string& where) {
  const SweepJson object = json.is_string() ? SweepJson{{"strategy", json}} : json;
  const SweepReader reader(object, where);
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

}  // namespace

Sweep parse_sweep(std::string_view text, const std::string& source, int all_devices) {
  const std::string where = "sweep " + source;
  check_json(text, where);
  const auto json = SweepJson::parse(text);
  const SweepReader reader(json, where);
  reader.allow({"name", "description", "workloads", "devices", "strategies", "axes", "constraints",
                "launches", "min_time", "min_samples"});
  Sweep sweep;
  sweep.name = reader.text("name");
  if (reader.has("description")) sweep.description = reader.text("description");
  add_workloads(reader, sweep);
  sweep.devices = read_devices(reader, all_devices);
  for (const auto& [strategy, place] : reader.objects("strategies")) {
    sweep.strategies.push_back(read_strategy(*strategy, place));
  }
  if (reader.has("axes")) sweep.strategies = along_axes(reader, sweep.strategies, sweep.left_out);
  if (reader.has("constraints")) sweep.constraints = read_constraints(reader);
  sweep.launches = reader.count("launches", sweep.launches, kMostLaunches);
  sweep.min_samples = reader.count("min_samples", sweep.min_samples, kMostSamples);
  if (reader.has("min_time")) sweep.min_time = reader.text("min_time");
  if (parse_duration(sweep.min_time, where + ", key 'min_time'") > kLongestLaunch) {
    reader.complain("key 'min_time' is above 3600s");
  }
  return sweep;
}

std::string definition_of(const Sweep& sweep, const SweepPlace& place) {
  SweepJson workloads = SweepJson::array();
  for (const Workload& workload : sweep.workloads) {
    SweepJson json{{"model", workload.model},
                   {workload.is_per_device ? "batch_per_device" : "batch", workload.batch}};
    // Journals older than this key have none.
    if (workload.precision != kUsualPrecision) json["precision"] = workload.precision;
    workloads.push_back(json);
  }
  SweepJson strategies = SweepJson::array();
  for (const Strategy& strategy : sweep.strategies) {
    strategies.push_back(SweepJson{{"strategy", strategy.strategy},
                                   {"launch", strategy.launch},
                                   {"options", strategy.options}});
  }
  SweepJson definition{{"name", sweep.name},
                       {"workloads", workloads},
                       {"devices", sweep.devices},
                       {"strategies", strategies},
                       {"launches", sweep.launches},
                       {"min_time", sweep.min_time},
                       {"min_samples", sweep.min_samples},
                       {"backend", place.backend},
                       {"oversubscribe", place.oversubscribe}};
  if (!sweep.constraints.empty()) definition["constraints"] = to_json(sweep.constraints);
  if (!place.site.empty()) definition["site"] = place.site;
  if (!place.torch.empty()) definition["torch"] = place.torch;
  return definition.dump();
}

}  // namespace tandem::cli
