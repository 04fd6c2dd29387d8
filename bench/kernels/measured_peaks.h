// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "common/kernels/precision.h"
#include "common/runtime/platform.h"

namespace tandem::bench {

// What rates of operations are held against: the first device's peaks in one precision, each
// measured when it is first asked for. Used from one thread at a time; the platform outlives it.
class MeasuredPeaks {
 public:
  MeasuredPeaks(Platform& platform, Precision precision)
      : platform_(platform), precision_(precision) {}

  // "gflops": of the fastest square product (bench/measured_peak.h). "GB/s": of a copy within the
  // device's memory, bytes read and written. 0 where nothing
  // that large fits. A logic error for other units.
  [[nodiscard]] double of(std::string_view unit);

 private:
  Platform& platform_;
  const Precision precision_;
  std::optional<double> gflops_;
  std::optional<double> gigabytes_;
};

// Bytes per second, read and written, of copies of `size` from one buffer of the device to another,
// by the device's own clock: of the median of 7 samples, two copies before them not counted.
[[nodiscard]] double copy_bandwidth(Device& device, Bytes size);

}  // namespace tandem::bench
