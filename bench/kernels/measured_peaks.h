// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "bench/kernels/options.h"
#include "common/kernels/precision.h"
#include "common/runtime/platform.h"

namespace tandem::bench {

// The first device's peaks in one precision, with which rates of operations are compared; each peak
// is measured when first asked for. Used from one thread at a time; the platform outlives the
// peaks.
class MeasuredPeaks {
 public:
  MeasuredPeaks(Platform& platform, Precision precision)
      : platform_(platform), precision_(precision) {}

  // The peak in `unit`. "gflops": the fastest square product (bench/step/measured_peak.h). "GB/s":
  // a copy within the device's memory, bytes read and written. 0 where no product or copy of that
  // size fits. Throws a logic error for other units.
  [[nodiscard]] double of(std::string_view unit);

 private:
  Platform& platform_;
  const Precision precision_;
  std::optional<double> gflops_;
  std::optional<double> gigabytes_;
};

// Measures the peak of the first device in each precision that the options ask for, as Google
// Benchmark's entries and as a table for people. Throws usage errors.
void run_peak(const KernelOptions& options, Platform& platform);

}  // namespace tandem::bench
