// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/sweep/sweep.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "common/base/known_names.h"
#include "common/base/units.h"
#include "common/json/fields.h"
#include "common/json/parse.h"
#include "tools/tandem/sweep/sweep_axes.h"
#include "tools/tandem/sweep/sweep_values.h"

namespace tandem::cli {
namespace {

constexpr JsonRange kLaunches{1, 1000};    // launches per cell, as in --launches
constexpr JsonRange kSamples{1, 100'000};  // samples per launch; the record keeps every sample
constexpr Seconds kLongestLaunch{3600};    // six times the usual time-out of a launch
constexpr std::size_t kMostWorkloads = 10'000;

std::vector<std::string> precisions_of(const JsonValue& workload) {
  const auto given = workload.find("precision");
  if (!given) return {std::string(kUsualPrecision)};
  const std::vector<std::string_view> known = options::choices_of("precision");
  std::vector<std::string> precisions;
  for (const JsonValue& one : given->values()) precisions.emplace_back(known[one.one_of(known)]);
  return precisions;
}

void add_workloads(const JsonValue& file, Sweep& sweep) {
  constexpr std::int64_t kMostSamplesOfAStep = 1'000'000'000;
  for (const JsonValue& reader : file.at("workloads").elements()) {
    reader.allow({"model", "batch", "batch_per_device", "precision"});
    const bool is_per_device = reader.has("batch_per_device");
    if (is_per_device == reader.has("batch")) {
      reader.complain("give one of 'batch' (over all devices) and 'batch_per_device'");
    }
    std::vector<std::string> models;
    for (const JsonValue& model : reader.at("model").values()) models.push_back(text_of(model));
    if (models.size() > 1) sweep.model_series.push_back(models);
    for (const std::string& precision : precisions_of(reader)) {
      for (const JsonValue& batch :
           reader.at(is_per_device ? "batch_per_device" : "batch").values()) {
        for (const std::string& model : models) {
          if (sweep.workloads.size() == kMostWorkloads) {
            reader.complain(
                fmt::format("more than {} workloads; use several sweeps", kMostWorkloads));
          }
          sweep.workloads.push_back({.model = model,
                                     .batch = batch.whole(1, kMostSamplesOfAStep),
                                     .precision = precision,
                                     .is_per_device = is_per_device});
        }
      }
    }
  }
}

void check_strategy(const SweepStrategy& strategy, const JsonValue& reader) {
  const auto check = [&reader](const std::string& key, const std::string& name,
                               options::Name option) {
    const std::vector<std::string_view> known = options::choices_of(option);
    if (std::ranges::find(known, name) != known.end()) return;
    reader.complain(fmt::format("{} {} is unknown{}; known are {}", key, shown_name(name),
                                did_you_mean(name, known), fmt::join(known, ", ")));
  };
  check("strategy", strategy.strategy, "strategy");
  check("launch", strategy.launch, "launch");
  const options::StrategyTraits& traits = *options::find_strategy(strategy.strategy);
  const bool is_one_process =
      traits.launch == options::Launch::kThreads && !traits.has_both_launches;
  if (is_one_process && strategy.launch != name_of(traits.launch)) {
    reader.complain(
        fmt::format("strategy '{}' is one process: its launch is threads", traits.name));
  }
}

SweepStrategy named_strategy(const std::string& name) {
  return {.strategy = name, .launch = std::string(options::usual_launch(name)), .options = {}};
}

SweepStrategy read_strategy(const JsonValue& reader) {
  if (reader.is_text()) {
    const SweepStrategy strategy = named_strategy(reader.line());
    check_strategy(strategy, reader);
    return strategy;
  }
  reader.allow({"strategy", "launch", "options"});
  SweepStrategy strategy = named_strategy(text_of(reader.at("strategy")));
  const options::StrategyTraits* const traits = options::find_strategy(strategy.strategy);
  if (traits != nullptr && traits->has_both_launches && !reader.has("launch")) {
    reader.complain(
        fmt::format("key 'launch' is missing: {} is run as threads or as processes", traits->name));
  }
  if (const auto launch = reader.find("launch")) strategy.launch = text_of(*launch);
  check_strategy(strategy, reader);
  const auto options = reader.find("options");
  if (!options) return strategy;
  options->expect_object();
  for (const JsonValue option : *options) {
    const std::string name(option.key());
    check_option_name(name, *options);
    strategy.options[name] = option_text(option);
  }
  return strategy;
}

void write(JsonWriter& writer, const SweepWorkload& workload) {
  writer.open("", '{');
  writer.value("model", workload.model);
  writer.value(workload.is_per_device ? "batch_per_device" : "batch", workload.batch);
  // Journals older than this key have none.
  if (workload.precision != kUsualPrecision) writer.value("precision", workload.precision);
  writer.close();
}

}  // namespace

Sweep parse_sweep(std::string_view text, const std::string& source, int all_devices) {
  const std::string where = "sweep " + source;
  const JsonDocument json(JsonAuthor::kPerson, text, where);
  const JsonValue reader = json.root();
  reader.allow({"name", "description", "workloads", "devices", "strategies", "axes", "constraints",
                "launches", "min_time", "min_samples"});
  Sweep sweep;
  sweep.name = text_of(reader.at("name"));
  if (const auto description = reader.find("description")) {
    sweep.description = text_of(*description);
  }
  add_workloads(reader, sweep);
  sweep.devices = read_devices(reader, all_devices);
  for (const JsonValue& strategy : reader.at("strategies").elements()) {
    sweep.strategies.push_back(read_strategy(strategy));
  }
  if (reader.has("axes")) sweep.strategies = along_axes(reader, sweep.strategies, sweep.left_out);
  if (reader.has("constraints")) sweep.constraints = read_constraints(reader);
  if (const auto count = reader.find("launches")) read_json(*count, sweep.launches, kLaunches);
  if (const auto count = reader.find("min_samples")) read_json(*count, sweep.min_samples, kSamples);
  if (const auto time = reader.find("min_time")) sweep.min_time = text_of(*time);
  if (parse_duration(sweep.min_time, where + ", key 'min_time'") > kLongestLaunch) {
    reader.complain("key 'min_time' is above 3600s");
  }
  return sweep;
}

constexpr auto json_fields(const SweepStrategy*) {
  return std::tuple(field("strategy", &SweepStrategy::strategy),
                    field("launch", &SweepStrategy::launch),
                    field("options", &SweepStrategy::options));
}

std::string definition_of(const Sweep& sweep, const SweepPlace& place) {
  std::string text;
  JsonWriter writer(text);
  writer.open("", '{');
  writer.value("name", sweep.name);
  writer.open("workloads", '[');
  for (const SweepWorkload& workload : sweep.workloads) write(writer, workload);
  writer.close();
  write_json(writer, "devices", sweep.devices);
  write_json(writer, "strategies", sweep.strategies);
  writer.value("launches", sweep.launches);
  writer.value("min_time", sweep.min_time);
  writer.value("min_samples", sweep.min_samples);
  writer.value("backend", place.backend);
  writer.value("oversubscribe", place.oversubscribe);
  if (!sweep.constraints.empty()) write_constraints(writer, sweep.constraints);
  if (!place.site.empty()) writer.value("site", place.site);
  if (!place.torch.empty()) writer.value("torch", place.torch);
  writer.close();
  return text;
}

}  // namespace tandem::cli
