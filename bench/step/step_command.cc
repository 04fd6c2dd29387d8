// SPDX-License-Identifier: Apache-2.0
#include "bench/step/step_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <string_view>

#include "bench/driver/option_lines.h"
#include "bench/driver/ranks_main.h"
#include "bench/step/model_list.h"
#include "common/base/text.h"
#include "common/options/rules.h"

namespace tandem::bench {
namespace {

using options::Values;

constexpr const char* kFooter =
    "Examples:\n"
    "  step_bench --strategy=dp --devices=2 --model=mlp-small --batch=64\n"
    "  mpirun -np 2 --bind-to none step_bench --strategy=ddp --batch=64 --grads=views\n"
    "  step_bench verify --strategy=dp --devices=2 --model=mlp-small --batch=64\n"
    "Exit status: 0 measured, 1 failed, 2 wrong usage.";

Run run_of(const Values& values) {
  return values.pick(
      "run", {Run::kTime, Run::kPair, Run::kVerify, Run::kTrace, Run::kCalibrate, Run::kList});
}

// A calibration has batches of its own, in place of a step's.
void give_calibrated_batch(Values& values) {
  const bool has_batch = values.is_given("batch") || values.is_given("batch-per-device");
  if (!values.is_given("batches") || has_batch) return;
  options::check_form("batches", values.in_force("batches"));
  int largest = 1;
  for (const int batch : values.devices("batches")) largest = std::max(largest, batch);
  values.give("batch", std::to_string(largest));
}

// Files are rank 0's, so that their names may differ.
std::string shared_lines(const Values& values) {
  std::string lines;
  for (const options::Option& option : options::kOptions) {
    if (option.is(options::kPerRank)) continue;
    lines += fmt::format("{}={}\n", options::Name(option).flag(), values.in_force(option));
  }
  return lines;
}

void set_run(const Values& values, StepCommand& command) {
  const StepOptions& step = command.step;
  switch (command.run) {
    case Run::kPair:
      command.pair = pair_options(values);
      return;
    case Run::kTrace:
      command.trace = trace_options(values, step);
      [[fallthrough]];
    case Run::kTime:
      command.sampling = sampling_options(values, step);
      return;
    case Run::kCalibrate:
      command.calibration = calibration_options(values, step);
      return;
    case Run::kVerify:
    case Run::kList:
      return;
  }
}

StepCommand checked_command(Values values) {
  give_devices_started(values);
  give_calibrated_batch(values);
  options::check(values);
  StepCommand command{.run = run_of(values),
                      .step = step_options(values),
                      .flight_dir = values.text("flight-dir"),
                      .shared = shared_lines(values)};
  if (values.is_given("check")) {
    command.check = values.pick("check", {Check::kOptions, Check::kBackend, Check::kModel});
  }
  set_run(values, command);
  return command;
}

}  // namespace

std::optional<StepCommand> parse_step_command(int argc, const char* const* argv) {
  CLI::App app("Times one training step: one strategy, model, batch and number of devices.",
               "step_bench");
  const OptionLines lines(app);
  app.footer(kFooter);
  BenchmarkFlags benchmark;
  declare_benchmark_flags(app, benchmark);
  if (!parse_arguments(app, argc, argv)) return std::nullopt;
  const Values values = lines.values();
  if (run_of(values) == Run::kList) {
    std::cout << model_list(values.text("model"));
    return std::nullopt;
  }
  StepCommand command = checked_command(values);
  command.benchmark = benchmark;
  // A record holds the context.
  command.benchmark.says_context = command.sampling.record_file.empty();
  return command;
}

void check_same_options(Bootstrap& bootstrap, const StepCommand& command) {
  const std::vector<std::string> texts = bootstrap.all_gather(command.shared);
  const std::vector<std::string_view> first = split(texts.front(), '\n');
  for (std::size_t rank = 1; rank < texts.size(); ++rank) {
    const std::vector<std::string_view> theirs = split(texts[rank], '\n');
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
