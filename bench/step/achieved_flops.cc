// SPDX-License-Identifier: Apache-2.0
#include "bench/step/achieved_flops.h"

#include <fmt/format.h>

#include <iostream>

#include "bench/step/measured_peak.h"
#include "common/kernels/host_support.h"
#include "common/stats/summary.h"

namespace tandem::bench {

double achieved_gflops(const StepOptions& options, const Model& model,
                       const Measurement& measured) {
  const auto batch = static_cast<double>(options.variant.training.global_batch);
  const double flops = model.flops_per_sample() * batch;
  return flops / stats::mean(measured.step_seconds) / options.place.devices * 1e-9;
}

double find_peak(Place& place, const StepOptions& options) {
  if (!options.peak.is_measured) return options.peak.gflops;
  double gflops = 0;
  if (place.communicator->rank() == 0) {
    const Precision precision = options.variant.training.precision;
    gflops = peak_flops(measure_products(*place.device, precision)) * 1e-9;
  }
  place.communicator->barrier();
  return gflops;
}

std::optional<std::string> precision_warning(Backend backend, Precision precision) {
  const bool is_bf16_on_host = backend == Backend::kHost && precision == Precision::kBf16;
  if (!is_bf16_on_host || host_bf16_support() != Bf16Support::kEmulated) return std::nullopt;
  return "bf16 is emulated: this CPU has no instructions for it, so the library multiplies in fp32 "
         "and converts; its speed says nothing about a CPU or GPU that has them";
}

void report_flops(const Place& place, const StepOptions& options, const Model& model,
                  const Measurement& measured) {
  if (place.communicator->rank() != 0 || measured.peak_gflops == 0) return;
  if (model.flops_per_sample() == 0) return;  // the model's FLOPs are unknown
  const double achieved = achieved_gflops(options, model, measured);
  std::cerr << fmt::format(
      "{:.4g} GFLOP/s per device, {:.1f} % of a {} peak of {:.4g} GFLOP/s ({})\n", achieved,
      100 * achieved / measured.peak_gflops, options.peak.is_measured ? "measured" : "given",
      measured.peak_gflops, name_of(options.variant.training.precision));
}

}  // namespace tandem::bench
