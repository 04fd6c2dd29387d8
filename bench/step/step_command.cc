// SPDX-License-Identifier: Apache-2.0
#include "bench/step/step_command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <sstream>

#include "bench/driver/option_lines.h"
#include "bench/driver/ranks_main.h"
#include "bench/step/model_table.h"
#include "common/options/rules.h"

namespace tandem::bench {
namespace {

using options::Values;

constexpr const char* kFooter =
    "Examples:\n"
    "  step_bench --strategy=dp --devices=2 --model=mlp-small --batch=64\n"
    "  mpirun -np 2 --bind-to none step_bench --strategy=ddp --batch=64 --grads=views\n"
    "docs/cli.md lists all options with what they go into. Google Benchmark's flags "
    "(--benchmark_filter, _list_tests, _repetitions, _min_time, _format, _out, "
    "_context and the rest of its --help) say what they say elsewhere; "
    "random interleaving is refused where there are several ranks.\n"
    "Exit status: 0 measured, 1 failed, 2 wrong usage.";

// Times under Google Benchmark's names, which stand in for the table's own.
using Times = std::vector<std::pair<options::Name, std::string>>;

Times take_times(std::vector<std::string>& flags, const Values& values) {
  struct Twin {
    const char* theirs;
    options::Name ours;
    options::Name count;
  };
  Times times;
  for (const Twin& twin : {Twin{"--benchmark_min_time", "min-time", "min-samples"},
                           Twin{"--benchmark_min_warmup_time", "warmup-time", "warmup-steps"}}) {
    const auto given = take_duration(flags, twin.theirs, twin.count.flag());
    if (!given) continue;
    if (values.is_given(twin.ours)) {
      fail(ErrorKind::kUsage, "{} and {} say the same: give one", twin.theirs, twin.ours.flag());
    }
    times.emplace_back(twin.ours, *given);
  }
  return times;
}

// A calibration has batches of its own, in place of a step's.
void give_calibrated_batch(Values& values) {
  const bool has_batch = values.is_given("batch") || values.is_given("batch-per-device");
  if (!values.is_given("calibrate-batches") || has_batch) return;
  options::check_form("calibrate-batches", values.in_force("calibrate-batches"));
  int largest = 1;
  for (const int batch : values.devices("calibrate-batches")) largest = std::max(largest, batch);
  values.give("batch", std::to_string(largest));
}

StepOptions checked_options(Values values, const Times& times) {
  give_devices_started(values);
  give_calibrated_batch(values);
  options::check(values);
  for (const auto& [name, time] : times) values.give(name, time);
  return step_options(values);
}

bool names_no_cell(const Values& values) {
  return !values.is("peak-gflops", "measured") &&
         std::none_of(options::kOptions.begin(), options::kOptions.end(),
                      [&](const options::Option& option) {
                        return option.is(options::kOfOneCell) && values.is_given(option);
                      });
}

// The values of each strategy that runs as this process was started, or of the one that is named.
std::vector<Values> values_to_list(const Values& values) {
  const bool in_processes = announced_ranks() > 1 || values.is("launch", "processes");
  std::vector<Values> all;
  for (const options::StrategyTraits& traits : options::kStrategies) {
    const bool runs =
        traits.has_both_launches || (traits.launch == Launch::kProcesses) == in_processes;
    if (values.is_given("strategy") ? values.is("strategy", traits.name) : runs) {
      Values& own = all.emplace_back(values);
      own.give("strategy", std::string(traits.name));
      own.give("batch-per-device", "64");
      if (traits.has_both_launches && announced_ranks() > 1) own.give("launch", "processes");
    }
  }
  return all;
}

// The options of the strategies to list that take all the given options; where no strategy does,
// throws the last strategy's reason.
StepOptions listed_options(const Values& values, const Times& times) {
  std::optional<StepOptions> options;
  std::vector<StrategyKind> listed;
  std::optional<Error> refusal;
  for (const Values& own : values_to_list(values)) {
    try {
      const StepOptions found = checked_options(own, times);
      listed.push_back(found.variant.strategy);
      if (!options) options = found;
    } catch (const Error& error) {
      refusal.emplace(error);
    }
  }
  if (!options) throw Error(*refusal);
  if (listed.size() > 1) options->listed = listed;
  return *options;
}

void check_repetitions(const StepOptions& options) {
  if (options.ab_variant) {
    refuse_repetitions(options.benchmark,
                       "--ab takes its pairs in sets, each built anew: leave it out");
  }
  if (!options.record_file.empty()) {
    refuse_repetitions(options.benchmark,
                       "a record is of one launch, whose samples are one row: "
                       "leave it or --record out");
  }
}

// A line per option that decides the work of a rank, always in the same order.
std::string shared_text(const StepOptions& options) {
  std::string strategies;
  for (const StepOptions& one : each_listed(options)) {
    strategies +=
        fmt::format("{}{}", strategies.empty() ? "" : ",", to_string(one.variant.strategy));
  }
  return fmt::format(
      "--strategy={}\n{}--benchmark_filter={}\n--benchmark_list_tests={}\n"
      "--benchmark_repetitions={}\n",
      strategies, options.shared, options.benchmark.filter.text(), options.benchmark.lists,
      options.benchmark.repetitions);
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

}  // namespace

std::optional<StepOptions> parse_step_options(int argc, const char* const* argv) {
  CLI::App app("Times one training step: one strategy, model, batch and number of devices.",
               "step_bench");
  const OptionLines lines(app);
  app.footer(kFooter);
  std::vector<std::string> benchmark_flags;
  if (!parse_with_benchmark_flags(app, argc, argv, benchmark_flags)) return std::nullopt;
  const Values values = lines.values();
  if (values.is_on("models")) {
    std::cout << model_table(values.text("model"));
    return std::nullopt;
  }
  const Times times = take_times(benchmark_flags, values);
  StepOptions options =
      names_no_cell(values) ? listed_options(values, times) : checked_options(values, times);
  const int ranks = options.job.launch == Launch::kProcesses ? options.job.devices : 1;
  options.benchmark = read_benchmark_flags("step_bench", benchmark_flags, ranks);
  check_repetitions(options);
  options.benchmark.says_context = options.record_file.empty();  // the record holds the context
  return options;
}

std::vector<StepOptions> each_listed(const StepOptions& options) {
  if (options.listed.empty()) return {options};
  std::vector<StepOptions> each(options.listed.size(), options);
  for (std::size_t i = 0; i < each.size(); ++i) each[i].variant.strategy = options.listed[i];
  return each;
}

void check_same_options(Bootstrap& bootstrap, const StepOptions& options) {
  const std::vector<std::string> texts = bootstrap.all_gather(shared_text(options));
  const std::vector<std::string> first = lines_of(texts.front());
  for (std::size_t rank = 1; rank < texts.size(); ++rank) {
    const std::vector<std::string> theirs = lines_of(texts[rank]);
    const auto [at, other] =
        std::mismatch(theirs.begin(), theirs.end(), first.begin(), first.end());
    if (at == theirs.end() && other == first.end()) continue;
    fail(ErrorKind::kUsage,
         "rank {} was started with other options than rank 0: {} instead of {}; "
         "give every rank the same",
         rank, at == theirs.end() ? "none of it" : *at,
         other == first.end() ? "none of it" : *other);
  }
}

}  // namespace tandem::bench
