// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/sweep/sweep.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "common/base/known_names.h"
#include "common/base/units.h"
#include "common/json/fields.h"
#include "common/json/parse.h"
#include "common/options/rules.h"
#include "tools/tandem/sweep/sweep_values.h"
#include "tools/tandem/sweep/torch_options.h"

namespace tandem::cli {
namespace {

constexpr JsonRange kLaunches{1, 1000};    // launches per cell, as in --launches
constexpr JsonRange kSamples{1, 100'000};  // samples per launch; the record keeps every sample
constexpr Seconds kLongestLaunch{3600};    // six times the usual time-out of a launch
constexpr std::size_t kMostWorkloads = 10'000;
constexpr std::array<std::string_view, 2> kBackends{"host", "cuda"};  // those that can be planned

std::vector<std::string> precisions_of(const JsonValue& workload) {
  const auto given = workload.find("precision");
  if (!given) return {std::string(kUsualPrecision)};
  const std::vector<std::string_view> known = options::choices_of("precision");
  std::vector<std::string> precisions;
  for (const JsonValue& one : given->values()) precisions.emplace_back(known[one.one_of(known)]);
  return precisions;
}

// The elements of a list that names what is run.
std::vector<JsonValue> some_of(const JsonValue& list, std::string_view example) {
  if (list.is_list() && list.empty()) list.complain(fmt::format("it is empty; use {}", example));
  return list.elements();
}

// Whether the workload trains a user's module.
bool is_of_module(const JsonValue& workload) {
  const bool is_module = workload.has("module");
  if (is_module && workload.has("model")) workload.complain("give one of 'model' and 'module'");
  return is_module;
}

void add_workloads(const JsonValue& file, Sweep& sweep) {
  constexpr std::int64_t kMostSamplesOfAStep = 1'000'000'000;
  for (const JsonValue& entry :
       some_of(file.at("workloads"), R"([{"model": "mlp-small", "batch": 32}])")) {
    entry.allow({"model", "module", "batch", "batch_per_device", "precision"});
    const bool is_module = is_of_module(entry);
    if (!sweep.workloads.empty() && is_module != sweep.is_of_modules) {
      entry.complain("modules and models do not share a sweep; use two sweeps");
    }
    sweep.is_of_modules = is_module;
    const bool is_per_device = entry.has("batch_per_device");
    if (is_per_device == entry.has("batch")) {
      entry.complain("give one of 'batch' (over all devices) and 'batch_per_device'");
    }
    std::vector<std::string> models;
    for (const JsonValue& model : entry.at(is_module ? "module" : "model").values()) {
      models.push_back(text_of(model));
    }
    if (models.size() > 1 && !is_module) sweep.model_series.push_back(models);
    for (const std::string& precision : precisions_of(entry)) {
      for (const JsonValue& batch :
           entry.at(is_per_device ? "batch_per_device" : "batch").values()) {
        for (const std::string& model : models) {
          if (sweep.workloads.size() == kMostWorkloads) {
            entry.complain(
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

std::vector<int> named_devices(const JsonValue& value, int all) {
  constexpr std::array<std::string_view, 3> kNames{"all", "1..all", "doubling"};
  const std::string_view name = value.text();
  if (std::ranges::find(kNames, name) == kNames.end()) {
    value.complain(
        fmt::format("{}: use numbers from 1, or {}", shown(value), fmt::join(kNames, ", ")));
  }
  if (all == 0) {
    value.complain(
        fmt::format("{}: no GPU shows itself here, or launches run elsewhere, so that their number "
                    "is not known; "
                    "say --devices=N, or --backend=host for the cores",
                    shown(value)));
  }
  if (name == "doubling") return doubling(all);
  std::vector<int> counts;
  for (int count = name == "all" ? all : 1; count <= all; ++count) counts.push_back(count);
  return counts;
}

// Drops the counts above --devices=`most`, and says so. Throws a usage error where none is left.
void leave_out_above(int most, std::vector<int>& devices, std::vector<std::string>& left_out) {
  if (most == 0 || devices.empty()) return;
  const int least = *std::ranges::min_element(devices);
  if (least > most) {
    fail(ErrorKind::kUsage, "--devices={}: the sweep starts at {} devices; give that or more", most,
         least);
  }
  if (most > *std::ranges::max_element(devices)) {
    left_out.push_back(fmt::format("--devices={}: the sweep names no more than {}", most,
                                   *std::ranges::max_element(devices)));
  }
  for (const int count : devices) {
    if (count <= most) continue;
    left_out.push_back(fmt::format("{} devices are left out: --devices={}", count, most));
  }
  std::erase_if(devices, [most](int count) { return count > most; });
}

// Reads key 'devices': numbers from 1, "all", "1..all" or "doubling", or a list of these. Where the
// list holds a name, the counts are sorted in ascending order, each once.
std::vector<int> read_devices(const JsonValue& file, const SweepDevices& asked,
                              std::vector<std::string>& left_out) {
  constexpr std::size_t kMostCounts = 100'000;
  constexpr int kMost = 100'000;
  std::vector<int> devices;
  bool is_named = false;
  for (const JsonValue& value : file.at("devices").values()) {
    if (devices.size() > kMostCounts) file.complain("key 'devices' is too long; use fewer");
    if (!value.is_text()) {
      devices.push_back(static_cast<int>(value.whole(1, kMost)));
      continue;
    }
    is_named = true;
    const std::vector<int> named = named_devices(value, asked.all);
    devices.insert(devices.end(), named.begin(), named.end());
  }
  if (is_named) {
    std::ranges::sort(devices);
    devices.erase(std::unique(devices.begin(), devices.end()), devices.end());
  }
  leave_out_above(asked.most, devices, left_out);
  return devices;
}

// The option of that name. Throws a usage error, with the nearest known name, unless a sweep may
// set it.
const options::Option& check_option_name(const std::string& name, const JsonValue& entry) {
  const options::Option* const option = options::find_option(name);
  if (option == nullptr) {
    entry.complain(fmt::format("unknown option {}{}; step_bench --help lists all", shown_name(name),
                               did_you_mean(name, options::names_with(options::kVaried))));
  }
  if (!option->is(options::kVaried)) {
    entry.complain(
        fmt::format("option '{}' is none of a strategy's: a sweep has keys of its own for what is "
                    "measured, and tandem says the rest",
                    name));
  }
  return *option;
}

// Reads key 'axes': {OPTION: [VALUE, ...], ...}. Every strategy is combined with all values of the
// options that the strategy has and does not set itself; null stands for the strategy without the
// option. `left_out` receives a line for each option that a strategy does not have.
std::vector<SweepStrategy> along_axes(const JsonValue& sweep,
                                      const std::vector<SweepStrategy>& strategies,
                                      std::vector<std::string>& left_out) {
  const JsonValue axes = sweep.at("axes");
  axes.expect_object();
  std::vector<SweepStrategy> found = strategies;
  for (const JsonValue list : axes) {
    const std::string option(list.key());
    const options::Name name = check_option_name(option, axes);
    if (option == "precision") axes.complain("precision is a key of workloads: give it there");
    for (const SweepStrategy& strategy : strategies) {
      if (options::is_varied_in(strategy.strategy, name)) continue;
      const std::string line =
          fmt::format("{} is not varied in {}: an option of {}", strategy.strategy, option,
                      options::varied_in_words(name));
      if (std::ranges::find(left_out, line) == left_out.end()) left_out.push_back(line);
    }
    const AxisValues values = axis_values(list);
    if (found.size() * values.size() > kMostStrategies) {
      axes.complain("more than 10000 combinations; use several sweeps");
    }
    found = along(found, option, values, [&](const std::string& strategy) {
      return options::is_varied_in(strategy, name);
    });
  }
  return found;
}

void check_strategy(const SweepStrategy& strategy, const JsonValue& entry) {
  const auto check = [&entry](const std::string& key, const std::string& name,
                              options::Name option) {
    const std::vector<std::string_view> known = options::choices_of(option);
    if (std::ranges::find(known, name) != known.end()) return;
    entry.complain(fmt::format("{} {} is unknown{}; known are {}", key, shown_name(name),
                               did_you_mean(name, known), fmt::join(known, ", ")));
  };
  check("strategy", strategy.strategy, "strategy");
  check("launch", strategy.launch, "launch");
  const options::StrategyTraits& traits = *options::find_strategy(strategy.strategy);
  const bool is_one_process =
      traits.launch == options::Launch::kThreads && !traits.has_both_launches;
  if (is_one_process && strategy.launch != name_of(traits.launch)) {
    entry.complain(fmt::format("strategy '{}' is one process: its launch is threads", traits.name));
  }
}

SweepStrategy named_strategy(const std::string& name) {
  return {.strategy = name, .launch = std::string(options::usual_launch(name)), .options = {}};
}

SweepStrategy read_strategy(const JsonValue& entry) {
  if (entry.is_text()) {
    const SweepStrategy strategy = named_strategy(entry.line());
    check_strategy(strategy, entry);
    return strategy;
  }
  entry.allow({"strategy", "launch", "options"});
  SweepStrategy strategy = named_strategy(text_of(entry.at("strategy")));
  const options::StrategyTraits* const traits = options::find_strategy(strategy.strategy);
  if (traits != nullptr && traits->has_both_launches && !entry.has("launch")) {
    entry.complain(
        fmt::format("key 'launch' is missing: {} is run as threads or as processes", traits->name));
  }
  if (const auto launch = entry.find("launch")) strategy.launch = text_of(*launch);
  check_strategy(strategy, entry);
  const auto options = entry.find("options");
  if (!options) return strategy;
  options->expect_object();
  for (const JsonValue option : *options) {
    const std::string name(option.key());
    check_option_name(name, *options);
    strategy.options[name] = option_text(option);
  }
  return strategy;
}

// The cell's value of a key; "" where the cell does not have the option.
std::string value_of(const results::Cell& cell, const std::string& key) {
  if (key == "strategy") return cell.strategy;
  if (key == "launch") return cell.launch;
  if (key == "model") return cell.model;
  if (key == "devices") return std::to_string(cell.devices);
  if (key == "batch") return std::to_string(cell.global_batch);
  if (key == "batch_per_device") {
    return fmt::format("{}", static_cast<double>(cell.global_batch) / cell.devices);
  }
  return cell.option(key);
}

bool holds(const Condition& condition, const results::Cell& cell) {
  const std::string value = value_of(cell, condition.key);
  const std::vector<std::string>& any = condition.any_of;
  if (!any.empty() && std::ranges::find(any, value) == any.end()) return false;
  if (!condition.above && !condition.below) return true;
  char* end = nullptr;
  const double number = std::strtod(value.c_str(), &end);
  if (value.empty() || *end != '\0') return false;  // the option is absent, or no number
  return (!condition.above || number > *condition.above) &&
         (!condition.below || number < *condition.below);
}

// The keys of a condition that are not options.
constexpr std::array<std::string_view, 6> kCellKeys{"strategy", "launch", "model",
                                                    "devices",  "batch",  "batch_per_device"};

void check_key(const JsonValue& condition, const JsonValue& drop) {
  const std::string_view key = condition.key();
  std::vector<std::string_view> known(kCellKeys.begin(), kCellKeys.end());
  const std::vector<std::string_view> varied = options::names_with(options::kVaried);
  known.insert(known.end(), varied.begin(), varied.end());
  const std::vector<std::string_view> of_torch = torch_option_names();
  known.insert(known.end(), of_torch.begin(), of_torch.end());
  if (std::ranges::find(known, key) != known.end()) return;
  drop.complain(fmt::format("unknown key {}{}; known are {} and the options of step_bench",
                            shown_name(key), did_you_mean(key, known), fmt::join(kCellKeys, ", ")));
}

Condition read_condition(const JsonValue& value, const JsonValue& drop) {
  check_key(value, drop);
  Condition condition{.key = std::string(value.key()), .any_of = {}, .above = {}, .below = {}};
  if (!value.is_object()) {
    for (const JsonValue& one : value.values()) condition.any_of.push_back(option_text(one));
    return condition;
  }
  value.allow({"above", "below"});
  if (value.empty()) value.complain("must say above, below or both");
  if (const auto above = value.find("above")) condition.above = above->number();
  if (const auto below = value.find("below")) condition.below = below->number();
  return condition;
}

void write(JsonWriter& writer, const Condition& condition) {
  if (!condition.any_of.empty()) return write_json(writer, condition.key, condition.any_of);
  writer.open(condition.key, '{');
  write_json(writer, "above", condition.above);
  write_json(writer, "below", condition.below);
  writer.close();
}

// Reads key 'constraints' of a sweep file: a list of {"drop": {KEY: VALUE, ...}, "reason": TEXT},
// where a VALUE is one value, a list of values, or {"above": NUMBER, "below": NUMBER}.
std::vector<Constraint> read_constraints(const JsonValue& sweep) {
  std::vector<Constraint> constraints;
  for (const JsonValue& json : sweep.at("constraints").elements()) {
    json.allow({"drop", "reason"});
    const JsonValue drop = json.at("drop");
    drop.expect_object();
    Constraint constraint{.when = {}, .reason = text_of(json.at("reason"))};
    for (const JsonValue condition : drop)
      constraint.when.push_back(read_condition(condition, drop));
    if (constraint.when.empty()) drop.complain("is empty: it would drop every cell");
    constraints.push_back(constraint);
  }
  return constraints;
}

// Writes what read_constraints() reads.
void write_constraints(JsonWriter& writer, const std::vector<Constraint>& constraints) {
  writer.open("constraints", '[');
  for (const Constraint& constraint : constraints) {
    writer.open("", '{');
    writer.open("drop", '{');
    for (const Condition& condition : constraint.when) write(writer, condition);
    writer.close();
    writer.value("reason", constraint.reason);
    writer.close();
  }
  writer.close();
}

void write(JsonWriter& writer, const SweepWorkload& workload) {
  writer.open("", '{');
  writer.value("model", workload.model);
  writer.value(workload.is_per_device ? "batch_per_device" : "batch", workload.batch);
  if (workload.precision != kUsualPrecision) writer.value("precision", workload.precision);
  writer.close();
}

}  // namespace

bool holds(const Constraint& constraint, const results::Cell& cell) {
  return std::ranges::all_of(constraint.when,
                             [&](const Condition& condition) { return holds(condition, cell); });
}

std::vector<int> doubling(int all) {
  std::vector<int> counts;
  for (int count = 1; count < all; count *= 2) counts.push_back(count);
  counts.push_back(all);
  return counts;
}

Sweep parse_sweep(std::string_view text, const std::string& source, const SweepDevices& devices) {
  const std::string where = "sweep " + source;
  const JsonDocument json(JsonAuthor::kPerson, text, where);
  const JsonValue file = json.root();
  file.expect_object();
  file.allow({"name", "description", "workloads", "devices", "strategies", "axes", "constraints",
              "launches", "min_time", "min_samples", "with_torch", "backend", "budget"});
  Sweep sweep;
  sweep.name = text_of(file.at("name"));
  if (const auto description = file.find("description")) sweep.description = text_of(*description);
  add_workloads(file, sweep);
  sweep.devices = read_devices(file, devices, sweep.left_out);
  for (const JsonValue& strategy : some_of(file.at("strategies"), R"(["single", "dp", "ddp"])")) {
    sweep.strategies.push_back(sweep.is_of_modules ? read_torch_strategy(strategy)
                                                   : read_strategy(strategy));
  }
  if (file.has("axes")) {
    sweep.strategies = sweep.is_of_modules ? along_torch_axes(file.at("axes"), sweep.strategies)
                                           : along_axes(file, sweep.strategies, sweep.left_out);
  }
  if (file.has("constraints")) sweep.constraints = read_constraints(file);
  if (const auto count = file.find("launches")) read_json(*count, sweep.launches, kLaunches);
  if (const auto count = file.find("min_samples")) read_json(*count, sweep.min_samples, kSamples);
  if (const auto time = file.find("min_time")) sweep.min_time = text_of(*time);
  if (const auto torch = file.find("with_torch")) sweep.with_torch = torch->boolean();
  if (const auto backend = file.find("backend")) {
    sweep.backend = kBackends[backend->one_of(kBackends)];
  }
  if (const auto budget = file.find("budget")) {
    sweep.budget = text_of(*budget);
    (void)parse_duration(sweep.budget, where + ", key 'budget'");
  }
  if (parse_duration(sweep.min_time, where + ", key 'min_time'") > kLongestLaunch) {
    file.complain("key 'min_time' is above 3600s");
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
  if (place.torch_has_pairs_alone) writer.value("torch_cells", "pairs");
  writer.close();
  return text;
}

}  // namespace tandem::cli
