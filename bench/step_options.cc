// SPDX-License-Identifier: Apache-2.0
#include "bench/step_options.h"

#include <CLI/CLI.hpp>
#include <array>
#include <utility>

#include "bench/ranks_main.h"
#include "common/base/error.h"
#include "common/base/units.h"

namespace tandem::bench {
namespace {

// The text of every flag, as given or by default.
struct Flags {
  std::string strategy = "single";
  std::string launch;
  std::string model = "mlp-small";
  std::int64_t batch = 0;
  std::int64_t batch_per_device = 0;
  int devices = 1;
  std::string backend = "auto";
  std::string input = "host";
  std::string grads = "copy";
  std::string overlap = "on";
  std::string bucket_mb;
  std::string first_bucket_mb;
  std::string phases = "on";
  std::uint64_t seed = 1;
  bool oversubscribe = false;
  std::string device_memory;
  int free_running = 0;
  std::string min_time = "500ms";
  int min_samples = 10;
  std::string warmup_time = "200ms";
  int warmup_steps = 5;
  std::string record;
  bool verify = false;
  std::string ab;
  int pairs = 200;
};

template <class T>
struct Choice {
  std::string_view name;
  T value;
};

// The value that `text` names; else a usage error that lists what `flag` takes.
template <class T, std::size_t N>
T choose(const char* flag, const std::string& text, const std::array<Choice<T>, N>& choices) {
  std::string known;
  for (const auto& choice : choices) {
    if (choice.name == text) return choice.value;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", choice.name);
  }
  fail(ErrorKind::kUsage, "{}: '{}' is not known: use one of {}", flag, text, known);
}

constexpr std::array kStrategies{Choice<StrategyKind>{"single", StrategyKind::kSingle},
                                 Choice<StrategyKind>{"independent", StrategyKind::kIndependent},
                                 Choice<StrategyKind>{"dp", StrategyKind::kDp},
                                 Choice<StrategyKind>{"ddp", StrategyKind::kDdp}};
constexpr std::array kLaunches{Choice<Launch>{"threads", Launch::kThreads},
                               Choice<Launch>{"processes", Launch::kProcesses}};
constexpr std::array kInputs{Choice<InputPlace>{"host", InputPlace::kHost},
                             Choice<InputPlace>{"device", InputPlace::kDevice}};
constexpr std::array kGrads{Choice<GradsMode>{"copy", GradsMode::kCopy},
                            Choice<GradsMode>{"views", GradsMode::kViews}};
constexpr std::array kOverlaps{Choice<Overlap>{"on", Overlap::kOn},
                               Choice<Overlap>{"off", Overlap::kOff}};
constexpr std::array kPhaseTimings{Choice<PhaseTiming>{"on", PhaseTiming::kOn},
                                   Choice<PhaseTiming>{"off", PhaseTiming::kOff}};

template <class T, std::size_t N>
std::string name_of(T value, const std::array<Choice<T>, N>& choices) {
  for (const auto& choice : choices) {
    if (choice.value == value) return std::string(choice.name);
  }
  return "";
}

void declare(CLI::App& app, Flags& flags) {
  app.add_option("--strategy", flags.strategy, "single, independent, dp or ddp")
      ->capture_default_str();
  app.add_option("--launch", flags.launch,
                 "threads (one process) or processes (under mpirun -np DEVICES --bind-to none); by "
                 "default processes for ddp, else threads");
  app.add_option("--model", flags.model,
                 "mlp-tiny, mlp-small, mlp-base, mlp-large, or mlp:LxW (L layers of W x W)")
      ->capture_default_str();
  app.add_option("--batch", flags.batch, "samples per step over all devices");
  app.add_option("--batch-per-device", flags.batch_per_device,
                 "samples per step and device; this or --batch");
  app.add_option("--devices", flags.devices, "devices; of processes, one each")
      ->capture_default_str();
  app.add_option("--backend", flags.backend, "auto, host or cuda")->capture_default_str();
  app.add_option("--input", flags.input, "where a step's batch starts: host or device memory")
      ->capture_default_str();
  app.add_option("--grads", flags.grads,
                 "ddp: copy gradients into buckets and back (torch's default), or views of buckets")
      ->capture_default_str();
  app.add_option("--overlap", flags.overlap, "ddp: on, or off (all-reduce after backward)")
      ->capture_default_str();
  app.add_option("--bucket-mb", flags.bucket_mb, "ddp: bucket size in MiB (default 25)");
  app.add_option("--first-bucket-mb", flags.first_bucket_mb,
                 "ddp: first bucket's size in MiB (default 1; with --bucket-mb, that size)");
  app.add_option("--phases", flags.phases, "time the parts of a step: on or off")
      ->capture_default_str();
  app.add_option("--seed", flags.seed, "of weights and data")
      ->capture_default_str()
      ->check(CLI::Range(std::uint64_t{0}, std::uint64_t{1} << 53));
  app.add_flag("--oversubscribe", flags.oversubscribe,
               "let devices share cores or GPUs; results carry the mark");
  app.add_option("--device-memory", flags.device_memory,
                 "capacity per device, such as 2GiB (default: what is left, shared evenly)");
  app.add_option("--free-running", flags.free_running,
                 "steps per sample, without barrier or wait between them (default: 1 step, both)");
  app.add_option("--min-time", flags.min_time, "measure at least this long")->capture_default_str();
  app.add_option("--min-samples", flags.min_samples, "and at least so many samples")
      ->capture_default_str();
  app.add_option("--warmup-time", flags.warmup_time, "discard at least this long")
      ->capture_default_str();
  app.add_option("--warmup-steps", flags.warmup_steps, "and at least so many steps (3 or more)")
      ->capture_default_str();
  app.add_option("--record", flags.record, "write the launch's full record to this file");
  app.add_flag("--verify", flags.verify,
               "instead of timing: train some steps and compare with single");
  app.add_option(
      "--ab", flags.ab,
      "instead of timing alone: interleaved pairs of steps, without and with a changed "
      "option, such as --ab=grads=views, phases=off or strategy=single; the time shown is with "
      "it, the ratio is step time with it over without");
  app.add_option("--pairs", flags.pairs, "pairs of --ab")->capture_default_str();
  app.footer(
      "Of Google Benchmark's flags: --benchmark_out=FILE (JSON), --benchmark_format=json, "
      "--benchmark_context=KEY=VALUE.\nExit status: 0 measured, 1 failed, 2 wrong usage.");
}

void require(bool condition, const std::string& message) {
  if (!condition) throw Error(ErrorKind::kUsage, message);
}

std::int64_t global_batch(const Flags& flags) {
  require((flags.batch == 0) != (flags.batch_per_device == 0) || flags.batch < 0 ||
              flags.batch_per_device < 0,
          "give a batch of at least 1 with exactly one of --batch (over all devices) and "
          "--batch-per-device");
  const std::int64_t batch =
      flags.batch != 0 ? flags.batch : flags.batch_per_device * flags.devices;
  require(batch >= 1, fmt::format("a batch of {} holds no sample: use 1 or more", batch));
  return batch;
}

Bytes mebibytes(const char* flag, const std::string& text) {
  const Bytes size = parse_bytes(text + "MiB", flag);
  require(size.value > 0, fmt::format("{}: a bucket holds more than {} MiB", flag, text));
  return size;
}

// torch: with a cap of the user's own there is no small first bucket.
void set_bucket_caps(const Flags& flags, ReducerOptions& reducer) {
  if (!flags.bucket_mb.empty()) {
    reducer.bucket_cap = mebibytes("--bucket-mb", flags.bucket_mb);
    reducer.first_bucket_cap = reducer.bucket_cap;
  }
  if (!flags.first_bucket_mb.empty()) {
    reducer.first_bucket_cap = mebibytes("--first-bucket-mb", flags.first_bucket_mb);
  }
}

Variant variant_of(const Flags& flags) {
  Variant variant;
  variant.strategy = choose("--strategy", flags.strategy, kStrategies);
  variant.training.global_batch = global_batch(flags);
  variant.training.seed = flags.seed;
  variant.training.input = choose("--input", flags.input, kInputs);
  variant.training.phases = choose("--phases", flags.phases, kPhaseTimings);
  variant.reducer.grads = choose("--grads", flags.grads, kGrads);
  variant.reducer.overlap = choose("--overlap", flags.overlap, kOverlaps);
  set_bucket_caps(flags, variant.reducer);
  return variant;
}

Launch launch_of(const Flags& flags, StrategyKind strategy) {
  const Launch usual = strategy == StrategyKind::kDdp ? Launch::kProcesses : Launch::kThreads;
  if (flags.launch.empty()) return usual;
  const Launch launch = choose("--launch", flags.launch, kLaunches);
  require(launch == usual || strategy == StrategyKind::kIndependent,
          fmt::format("--launch={}: {} runs as {}; only independent runs as both", flags.launch,
                      to_string(strategy), to_string(usual)));
  return launch;
}

void check_devices(const Flags& flags, StrategyKind strategy) {
  require(flags.devices >= 1, fmt::format("--devices={}: use 1 or more", flags.devices));
  require(
      strategy != StrategyKind::kSingle || flags.devices == 1,
      fmt::format("--devices={}: single is one device; use independent, dp or ddp", flags.devices));
}

constexpr std::array kDdpOptions{"--grads", "--overlap", "--bucket-mb", "--first-bucket-mb"};

// Options that would do nothing are refused: the reader of the command would believe they did.
void check_applicable(const CLI::App& app, const Flags& flags, StrategyKind strategy) {
  const auto refuse = [&app](const char* flag, const char* why) {
    require(app.count(flag) == 0, fmt::format("{} {}: leave it out", flag, why));
  };
  if (strategy != StrategyKind::kDdp) {
    for (const char* flag : kDdpOptions) refuse(flag, "is an option of ddp and does nothing here");
  }
  require(flags.free_running > 0 || app.count("--free-running") == 0,
          "--free-running: use 1 or more steps per sample");
  if (flags.ab.empty()) refuse("--pairs", "does nothing without --ab");
  if (flags.verify) refuse("--free-running", "does nothing with --verify");
  if (!flags.verify && flags.ab.empty()) return;
  for (const char* flag : {"--record", "--min-time", "--min-samples"}) {
    refuse(flag, "does nothing with --verify or --ab");
  }
}

void check_counts(const Flags& flags) {
  require(flags.min_samples >= 1, "--min-samples: use 1 or more");
  require(flags.warmup_steps >= 3,
          "--warmup-steps: use 3 or more; ddp's buckets settle in the second step");
  require(flags.pairs >= 2, "--pairs: use 2 or more");
  require(!(flags.verify && !flags.ab.empty()), "--verify and --ab are two runs: give one of them");
}

// Flags again, with the one that --ab names set anew.
Flags changed_by_ab(const Flags& flags) {
  const std::size_t equals = flags.ab.find('=');
  require(
      equals != std::string::npos && equals > 0 && equals + 1 < flags.ab.size(),
      fmt::format("--ab={}: give an option and its other value, such as grads=views", flags.ab));
  const std::string option = flags.ab.substr(0, equals);
  const std::string value = flags.ab.substr(equals + 1);
  Flags changed = flags;
  const std::array<std::pair<std::string_view, std::string*>, 7> known{
      {{"strategy", &changed.strategy},
       {"input", &changed.input},
       {"grads", &changed.grads},
       {"overlap", &changed.overlap},
       {"bucket-mb", &changed.bucket_mb},
       {"first-bucket-mb", &changed.first_bucket_mb},
       {"phases", &changed.phases}}};
  for (const auto& [name, field] : known) {
    if (name != option) continue;
    require(*field != value, fmt::format("--ab={}: that is the value without it", flags.ab));
    *field = value;
    return changed;
  }
  fail(ErrorKind::kUsage,
       "--ab={}: '{}' cannot change within a process: use one of strategy, input, grads, overlap, "
       "bucket-mb, first-bucket-mb, phases",
       flags.ab, option);
}

// Both sides of a pair run in one process, on the devices of one launch.
void check_pair(const Flags& flags, const StepOptions& options) {
  const StrategyKind a = options.variant.strategy;
  const StrategyKind b = options.ab_variant->strategy;
  const std::string option = "--" + flags.ab.substr(0, flags.ab.find('='));
  for (const char* ddp_option : kDdpOptions) {
    require(option != ddp_option || a == StrategyKind::kDdp,
            fmt::format("--ab={}: {} is an option of ddp and does nothing for {}", flags.ab, option,
                        to_string(a)));
  }
  if (flags.devices == 1) return;
  check_devices(flags, b);
  const bool fits = b == StrategyKind::kIndependent ||
                    (b == StrategyKind::kDdp) == (options.place.launch == Launch::kProcesses);
  require(fits, fmt::format("--ab={}: {} and {} are launched differently, and on {} devices cannot "
                            "share a process: compare them with tandem run",
                            flags.ab, to_string(a), to_string(b), flags.devices));
}

StepOptions options_of(const CLI::App& app, const Flags& flags) {
  StepOptions options;
  options.variant = variant_of(flags);
  options.place.launch = launch_of(flags, options.variant.strategy);
  check_devices(flags, options.variant.strategy);
  check_applicable(app, flags, options.variant.strategy);
  check_counts(flags);
  options.model = flags.model;
  options.place.devices = flags.devices;
  options.place.backend = parse_backend(flags.backend);
  options.place.oversubscribe = flags.oversubscribe;
  if (!flags.device_memory.empty()) {
    options.place.device_memory = {parse_bytes(flags.device_memory, "--device-memory")};
  }
  options.free_running = flags.free_running;
  options.min_time = parse_duration(flags.min_time, "--min-time");
  options.min_samples = flags.min_samples;
  options.warmup_time = parse_duration(flags.warmup_time, "--warmup-time");
  options.warmup_steps = flags.warmup_steps;
  options.record_file = flags.record;
  options.verify = flags.verify;
  options.pairs = flags.pairs;
  options.ab = flags.ab;
  if (!flags.ab.empty()) {
    options.ab_variant = variant_of(changed_by_ab(flags));
    check_pair(flags, options);
  }
  return options;
}

}  // namespace

std::string to_string(StrategyKind kind) { return name_of(kind, kStrategies); }
std::string to_string(Launch launch) { return name_of(launch, kLaunches); }

std::optional<StepOptions> parse_step_options(int argc, const char* const* argv) {
  CLI::App app("Times one training step: one strategy, model, batch and number of devices.",
               "step_bench");
  Flags flags;
  declare(app, flags);
  std::vector<std::string> benchmark_flags;
  if (!parse_with_benchmark_flags(app, argc, argv, benchmark_flags)) return std::nullopt;
  StepOptions options = options_of(app, flags);
  options.benchmark_flags = std::move(benchmark_flags);
  return options;
}

std::map<std::string, std::string> distinguishing_options(const StepOptions& options) {
  std::map<std::string, std::string> named;
  const Variant& variant = options.variant;
  const ReducerOptions usual;
  if (variant.training.input != InputPlace::kHost) named["input"] = "device";
  if (variant.training.seed != 1) named["seed"] = std::to_string(variant.training.seed);
  if (variant.training.phases == PhaseTiming::kOff) named["phases"] = "off";
  if (options.free_running > 0) named["free-running"] = std::to_string(options.free_running);
  if (!options.place.device_memory.empty()) {
    named["device-memory"] = to_string(options.place.device_memory.front());
  }
  if (variant.reducer.grads != usual.grads) named["grads"] = name_of(variant.reducer.grads, kGrads);
  if (variant.reducer.overlap != usual.overlap) {
    named["overlap"] = name_of(variant.reducer.overlap, kOverlaps);
  }
  if (variant.reducer.bucket_cap != usual.bucket_cap) {
    named["bucket"] = to_string(variant.reducer.bucket_cap);
  }
  if (variant.reducer.first_bucket_cap != usual.first_bucket_cap) {
    named["first-bucket"] = to_string(variant.reducer.first_bucket_cap);
  }
  return named;
}

}  // namespace tandem::bench
