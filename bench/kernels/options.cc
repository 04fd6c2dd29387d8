// SPDX-License-Identifier: Apache-2.0
#include "bench/kernels/options.h"

#include "bench/ranks_main.h"

namespace tandem::bench {

std::optional<KernelOptions> parse_kernel_options(int argc, const char* const* argv) {
  CLI::App app("Times the operations of one device, or with --peak its largest matrix products.",
               "kernel_bench");
  KernelOptions options;
  std::string precision;
  std::string backend = "auto";
  app.add_flag(
      "--peak", options.peak,
      "the measured peak, by square products of several sizes, in place of the operations");
  app.add_option("--precision", precision,
                 "fp32, tf32 (GPU) or bf16: of the products (default: fp32; with --peak all that "
                 "the device has)");
  app.add_option("--backend", backend, "auto, host or cuda")->capture_default_str();
  app.footer(
      "Of Google Benchmark's flags all, but with --peak only those that say where output goes.\n"
      "Exit status: 0 measured, 1 failed, 2 wrong usage.");
  if (!parse_with_benchmark_flags(app, argc, argv, options.benchmark_flags)) return std::nullopt;
  if (!precision.empty()) options.precision = parse_precision(precision, "--precision");
  options.backend = parse_backend(backend);
  return options;
}

}  // namespace tandem::bench
