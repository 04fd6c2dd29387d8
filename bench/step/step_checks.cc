// SPDX-License-Identifier: Apache-2.0
#include "bench/step/step_checks.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>

#include "bench/driver/size_list.h"
#include "bench/step/option_owners.h"
#include "common/base/error.h"
#include "common/runtime/link_request.h"

namespace tandem::bench {

void require(bool condition, const std::string& message) {
  if (!condition) throw Error(ErrorKind::kUsage, message);
}

namespace {

void check_core_speed(const CLI::App& app, const StepFlags& flags) {
  if (app.count("--core-gflops") == 0) return;
  require(!flags.link.empty() && parse_link(flags.link).is_preset(),
          "--core-gflops does nothing without a preset link, such as --link=pcie4@a100-fp32: leave "
          "it out");
  require(flags.core_gflops > 0 && std::isfinite(flags.core_gflops),
          fmt::format("--core-gflops={}: use a speed above 0, in GFLOP/s", flags.core_gflops));
}

}  // namespace

void check_devices(const StepFlags& flags, StrategyKind strategy) {
  require(flags.devices >= 1, fmt::format("--devices={}: use 1 or more", flags.devices));
  require(strategy != StrategyKind::kSingle || flags.devices == 1,
          fmt::format("--devices={}: single is one device; use another strategy", flags.devices));
}

namespace {

// The number of devices that dp is given: the named devices, or all devices.
int device_count(const StepFlags& flags) {
  return flags.device_ids.empty() ? flags.devices
                                  : static_cast<int>(parts_of(flags.device_ids).size());
}

// Layers are timed on one device, apart from any strategy.
void check_writing(const CLI::App& app, const StepFlags& flags, StrategyKind strategy) {
  require(strategy == StrategyKind::kSingle,
          fmt::format("--write-workload measures layers on one device, and --strategy={} is more: "
                      "leave it out",
                      flags.strategy));
  require(flags.write_workload.ends_with(".json"),
          fmt::format("--write-workload={0}: --model knows workload files by their ending: write "
                      "{0}.json",
                      flags.write_workload));
  for (const char* flag : {"--record", "--min-time", "--min-samples", "--peak-gflops", "--verify",
                           "--ab", "--free-running", "--cuda-graph"}) {
    require(app.count(flag) == 0,
            fmt::format("{} does nothing with --write-workload: leave it out", flag));
  }
}

}  // namespace

void check_applicable(const CLI::App& app, const StepFlags& flags, StrategyKind strategy) {
  const auto refuse = [&app](const std::string& flag, const std::string& why) {
    require(app.count(flag) == 0, fmt::format("{} {}: leave it out", flag, why));
  };
  for (const OwnedOption& option : owned_options()) {
    if (has_option(strategy, option.name)) continue;
    refuse("--" + option.name,
           fmt::format("is an option of {} and does nothing here", owners_of(option.name)));
  }
  const bool has_threads = is_one_process(strategy) && strategy != StrategyKind::kSingle;
  require(flags.interpreter_lock == "off" || has_threads,
          fmt::format("--interpreter-lock does nothing for {}, whose processes dispatch from one "
                      "thread each: leave it out",
                      to_string(strategy)));
  require(flags.output_device.empty() || device_count(flags) > 1,
          "--output-device does nothing with one device, whose outputs stay there: leave it out");
  require(flags.free_running > 0 || app.count("--free-running") == 0,
          "--free-running: use 1 or more steps per sample");
  check_core_speed(app, flags);
  if (flags.ab.empty()) refuse("--pairs", "does nothing without --ab");
  if (flags.verify) refuse("--free-running", "does nothing with --verify");
  if (!flags.write_workload.empty()) check_writing(app, flags, strategy);
  if (!flags.verify && flags.ab.empty()) return;
  for (const char* flag : {"--record", "--min-time", "--min-samples", "--peak-gflops"}) {
    refuse(flag, "does nothing with --verify or --ab");
  }
}

void check_fault(const Fault& fault, StrategyKind strategy, Launch launch, int devices) {
  const bool has_collectives =
      devices > 1 && (strategy == StrategyKind::kDdp || strategy == StrategyKind::kDdpReplicate ||
                      strategy == StrategyKind::kDpAllReduce);
  require(
      fault.kind != FaultKind::kDiverges || has_collectives,
      "--fault=diverges needs collectives to differ in: ddp, ddp-replicate or dp-allreduce on 2 "
      "devices or more");
  require(fault.kind != FaultKind::kLate || (launch == Launch::kProcesses && devices > 1),
          "--fault=late needs others that wait: 2 processes or more");
  require(
      fault.kind != FaultKind::kStopped || (launch == Launch::kProcesses && devices > 1),
      "--fault=stopped stops a whole process, and needs others that wait for it: 2 processes or "
      "more");
}

namespace {

// Whether an option has another value than its default.
template <class T>
bool is_set(const StepFlags& flags, T StepFlags::*option) {
  static const StepFlags usual;
  return flags.*option != usual.*option;
}

struct NamedFlag {
  const char* name;
  std::string StepFlags::*option;
};

void refuse_set(const StepFlags& flags, const std::vector<NamedFlag>& named, const char* why) {
  for (const NamedFlag& flag : named) {
    require(!is_set(flags, flag.option), fmt::format("{} {}: leave it out", flag.name, why));
  }
}

void check_horovod(const StepFlags& flags) {
  if (flags.reducer != "horovod") {
    return refuse_set(
        flags, {{"--cycle-time", &StepFlags::cycle_time}, {"--fusion-mb", &StepFlags::fusion_mb}},
        "does nothing without --reducer=horovod");
  }
  refuse_set(flags,
             {{"--grads", &StepFlags::grads},
              {"--overlap", &StepFlags::overlap},
              {"--bucket-mb", &StepFlags::bucket_mb},
              {"--first-bucket-mb", &StepFlags::first_bucket_mb},
              {"--static-graph", &StepFlags::static_graph},
              {"--compress", &StepFlags::compress},
              {"--join", &StepFlags::join}},
             "is an option of buckets and does nothing with --reducer=horovod");
  require(flags.ab.empty(),
          "--ab: two of Horovod's reducers would run their cycles at the same time, each in the "
          "other's steps; compare them with tandem run");
}

}  // namespace

void check_watching(const StepFlags& flags) {
  if (flags.fault.empty()) return;
  require(!flags.verify, "--fault does nothing for --verify, whose steps are few: leave one out");
  require(!flags.fault.starts_with("nan") || flags.check_numerics == "on",
          "--fault=nan is seen by nobody without --check-numerics: give both");
}

void check_reducer(const StepFlags& flags) {
  check_horovod(flags);
  require(flags.compress.starts_with("powersgd") || !is_set(flags, &StepFlags::powersgd_start),
          "--powersgd-start does nothing without --compress=powersgd:RANK: leave it out");
  require(!flags.compress.starts_with("powersgd") || flags.powersgd_start <= flags.warmup_steps,
          fmt::format("--powersgd-start={}: samples would mix uncompressed steps with compressed "
                      "ones; give as many --warmup-steps or more",
                      flags.powersgd_start));
  require(flags.accumulate >= 1, "--accumulate: use 1 or more micro-batches");
  require(flags.join == "off" || flags.accumulate == 1,
          "--join and --accumulate cannot be combined here: give one of them");
  require(flags.join == "off" || flags.compress == "none",
          "--join and --compress cannot be combined here: give one of them");
  require(flags.compress == "none" || !flags.verify,
          "--verify compares with single, and --compress loses digits on purpose: leave one out");
  require(flags.join == "off" || !flags.verify,
          "--verify compares with single, and with --join each rank's average weighs the same "
          "whatever its share: leave one out");
}

void check_counts(const StepFlags& flags) {
  require(flags.min_samples >= 1, "--min-samples: use 1 or more");
  require(flags.warmup_steps >= kLeastWarmupSteps,
          fmt::format("--warmup-steps: use {} or more; ddp's buckets settle in the second step",
                      kLeastWarmupSteps));
  require(flags.pairs >= 2, "--pairs: use 2 or more");
  require(!(flags.verify && !flags.ab.empty()), "--verify and --ab are two runs: give one of them");
}

void check_profiled(const CLI::App& app, const StepFlags& flags) {
  if (app.count("--profile-steps") == 0) return;
  require(flags.profile_steps >= 1, "--profile-steps: use 1 or more");
  for (const char* flag : {"--record", "--verify", "--ab", "--write-workload"}) {
    require(app.count(flag) == 0,
            fmt::format("--profile-steps and {}: a profiled launch is slower than it is, and its "
                        "times are nobody's figures: give one of them",
                        flag));
  }
}

void check_traced(const CLI::App& app, const StepFlags& flags) {
  require(!flags.trace.empty() || app.count("--trace-steps") == 0,
          "--trace-steps does nothing without --trace: give the file to write");
  if (app.count("--trace") == 0) return;
  require(!flags.trace.empty(), "--trace: give the file to write, such as trace.json");
  require(flags.trace_steps >= 1 && flags.trace_steps <= 10'000,
          "--trace-steps: use 1 to 10000, all of which are kept in memory");
  for (const char* flag : {"--profile-steps", "--verify", "--ab", "--write-workload"}) {
    require(app.count(flag) == 0,
            fmt::format("--trace is a pass behind measured samples, and with {} there are none: "
                        "give one of them",
                        flag));
  }
}

void check_contention(const CLI::App& app, const StepFlags& flags, StrategyKind strategy) {
  require(!flags.contention.empty() || app.count("--contention-pairs") == 0,
          "--contention-pairs does nothing without --contention: give the file to write");
  if (app.count("--contention") == 0) return;
  require(!flags.contention.empty(), "--contention: give the file to write, such as c.json");
  require(flags.contention_pairs >= 1 && flags.contention_pairs <= 10'000,
          "--contention-pairs: use 1 to 10000");
  require(
      strategy == StrategyKind::kDdp || strategy == StrategyKind::kDpAllReduce,
      fmt::format("--contention: {} makes no all-reduce behind backward; use ddp or dp-allreduce",
                  to_string(strategy)));
  require(flags.devices >= 2, "--contention: one device communicates with nobody; use 2 or more");
  require(flags.join == "off",
          "--contention: with --join numbers of ranks are all-reduced, too, "
          "and cannot be left out: use --join=off");
  require(flags.cuda_graph == "off",
          "--contention: a replayed graph holds its all-reduces, which "
          "cannot be left out: use --cuda-graph=off");
  require(flags.phases == "on", "--contention compares phases: use --phases=on");
  for (const char* flag : {"--profile-steps", "--verify", "--ab", "--write-workload"}) {
    require(app.count(flag) == 0,
            fmt::format("--contention is a pass behind measured samples, and with {} there are "
                        "none: give one of them",
                        flag));
  }
}

void check_pair(const StepFlags& flags, StrategyKind a, StrategyKind b, Launch launch) {
  const std::string option = flags.ab.substr(0, flags.ab.find('='));
  require(has_option(a, option),
          fmt::format("--ab={}: --{} is an option of {} and does nothing for {}", flags.ab, option,
                      owners_of(option), to_string(a)));
  if (flags.devices == 1) return;
  check_devices(flags, b);
  const bool fits =
      b == StrategyKind::kIndependent || is_one_process(b) == (launch == Launch::kThreads);
  require(fits, fmt::format("--ab={}: {} and {} are launched differently, and on {} devices cannot "
                            "share a process: compare them with tandem run",
                            flags.ab, to_string(a), to_string(b), flags.devices));
}

}  // namespace tandem::bench
