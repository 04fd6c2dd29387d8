// SPDX-License-Identifier: Apache-2.0
#include "bench/kernels/options.h"

#include <CLI/CLI.hpp>

#include "bench/driver/ranks_main.h"

namespace tandem::bench {

namespace {

struct Flags {
  std::string precision;
  std::string input = "host";
  std::string backend = "auto";
};

void declare(CLI::App& app, KernelOptions& options, Flags& flags) {
  app.add_flag(
      "--peak", options.peak,
      "the measured peak, by square products of several sizes, in place of the operations");
  app.add_option(
         "--step-of", options.step_of,
         "a model: the FLOP/s of its step on one device, and of forward and backward alone, "
         "against the bare products of its shapes, in pairs; in place of the operations")
      ->type_name("MODEL");
  app.add_option("--batch", options.batch, "of --step-of, which needs it: such as 64")
      ->type_name("SAMPLES");
  app.add_option("--input", flags.input, "of --step-of: where the batch lies")
      ->type_name("host|pageable|device")
      ->capture_default_str();
  app.add_option("--pairs", options.pairs, "of --step-of: pairs of step and products")
      ->type_name("COUNT")
      ->capture_default_str();
  app.add_option("--precision", flags.precision,
                 "of the products; tf32 is for GPUs; default: fp32, with --peak all that the "
                 "device has")
      ->type_name("fp32|tf32|bf16");
  app.add_option("--backend", flags.backend, "where the device is; auto: a GPU where there is one")
      ->type_name("auto|host|cuda")
      ->capture_default_str();
}

void check(const CLI::App& app, const KernelOptions& options) {
  if (options.step_of.empty()) {
    for (const char* flag : {"--pairs", "--batch", "--input"}) {
      if (app.count(flag) == 0) continue;
      fail(ErrorKind::kUsage, "{} does nothing without --step-of: leave it out", flag);
    }
    return;
  }
  if (options.peak) fail(ErrorKind::kUsage, "--peak and --step-of are runs of their own: give one");
  if (options.batch < 1) fail(ErrorKind::kUsage, "--step-of needs --batch, 1 sample or more");
  if (options.pairs < 2) fail(ErrorKind::kUsage, "--pairs={}: use 2 or more", options.pairs);
}

}  // namespace

std::optional<KernelOptions> parse_kernel_options(int argc, const char* const* argv) {
  CLI::App app(
      "Times the operations of one device, or with --peak its largest matrix products, or with "
      "--step-of a step against its bare products.",
      "kernel_bench");
  KernelOptions options;
  Flags flags;
  declare(app, options, flags);
  app.footer(
      "Examples:\n"
      "  kernel_bench --benchmark_filter=linear_forward\n"
      "  kernel_bench --step-of=gpt2-nano --batch=16\n"
      "Of Google Benchmark's flags all, but with --peak and --step-of only those that say where "
      "output goes.\n"
      "Exit status: 0 measured, 1 failed, 2 wrong usage.");
  if (!parse_with_benchmark_flags(app, argc, argv, options.benchmark_flags)) return std::nullopt;
  check(app, options);
  if (!flags.precision.empty()) {
    options.precision = parse_precision(flags.precision, "--precision");
  }
  options.input = choose("--input", flags.input, kInputs);
  options.backend = parse_backend(flags.backend);
  return options;
}

}  // namespace tandem::bench
