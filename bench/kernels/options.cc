// SPDX-License-Identifier: Apache-2.0
#include "bench/kernels/options.h"

#include <CLI/CLI.hpp>

#include "bench/driver/ranks_main.h"

namespace tandem::bench {

namespace {

struct Flags {
  std::string precision;
  std::string backend = "auto";
};

void declare(CLI::App& app, KernelOptions& options, Flags& flags) {
  app.add_flag(
      "--peak", options.peak,
      "the measured peak, by square products of several sizes, in place of the operations");
  app.add_option("--precision", flags.precision,
                 "of the products; tf32 is for GPUs; default: fp32, with --peak all that the "
                 "device has")
      ->type_name("fp32|tf32|bf16");
  app.add_option("--backend", flags.backend, "where the device is; auto: a GPU where there is one")
      ->type_name("auto|host|cuda")
      ->capture_default_str();
}

}  // namespace

std::optional<KernelOptions> parse_kernel_options(int argc, const char* const* argv) {
  CLI::App app("Times the operations of one device, or with --peak its largest matrix products.",
               "kernel_bench");
  KernelOptions options;
  Flags flags;
  declare(app, options, flags);
  app.footer(
      "Examples:\n"
      "  kernel_bench --benchmark_filter=linear_forward\n"
      "  kernel_bench --peak --precision=bf16\n"
      "Of Google Benchmark's flags all, but with --peak only those that say where output goes.\n"
      "Exit status: 0 measured, 1 failed, 2 wrong usage.");
  if (!parse_with_benchmark_flags(app, argc, argv, options.benchmark_flags)) return std::nullopt;
  if (!flags.precision.empty()) {
    options.precision = parse_precision(flags.precision, "--precision");
  }
  options.backend = parse_backend(flags.backend);
  return options;
}

}  // namespace tandem::bench
