// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/job/job.h"
#include "bench/step/measurement.h"
#include "bench/step/step_options.h"
#include "common/kernels/operations.h"
#include "common/kernels/precision.h"
#include "common/model/model.h"
#include "common/runtime/device.h"

namespace tandem::bench {

// The GFLOP/s of one device: the FLOPs of the model's matrix products for the global batch, over
// the mean step and the number of devices.
[[nodiscard]] double achieved_gflops(const StepOptions& options, const Model& model,
                                     const Measurement& measured);

// The peak in GFLOP/s that is given or asked for; 0 where it is neither. The first device is
// measured while the others wait. Collective.
[[nodiscard]] double find_peak(Job& job, const PeakRequest& peak, Precision precision);

// A warning for the reader of figures in this precision about this machine; empty where the figures
// need no warning.
[[nodiscard]] std::optional<std::string> precision_warning(Backend backend, Precision precision);

// Whether the step's products all are in the precision whose peak is asked for: not where
// convolutions of fp32 were computed in tf32.
[[nodiscard]] bool has_one_format(const StepOptions& options, const Measurement& measured);

// If the peak is known, writes a line to rank 0's stderr that holds the achieved FLOP/s against
// the peak.
void report_flops(const Job& job, const StepOptions& options, const Model& model,
                  const Measurement& measured, bool is_peak_measured);

[[nodiscard]] constexpr LinearShape square_product(std::int64_t size) {
  return {.batch = size, .in = size, .out = size};
}

// A product y = x . weight^T on one device, without bias or activation, of uniform random numbers
// in [-1, 1), and the memory of its operands, of `type`.
class SquareProduct {
 public:
  // Waits until the operands are filled.
  SquareProduct(Device& device, Operations& operations, Stream& stream, DType type,
                std::int64_t size);

  void enqueue() { operations_.enqueue(stream_, op_); }

 private:
  void fill(Device& device, AnySpan values, std::uint64_t seed);

  Operations& operations_;
  Stream& stream_;
  const std::int64_t count_;  // elements of a matrix
  std::array<std::unique_ptr<Buffer>, 3> matrices_;
  LinearForward op_;
};

// How fast one device multiplies square matrices of one size.
struct ProductSpeed {
  std::int64_t size = 0;        // rows and columns of all three matrices
  std::vector<double> seconds;  // seconds of one product, by sample of several products each

  [[nodiscard]] double flops() const;  // FLOP/s in the median sample
};

// Times products y = x . weight^T by the device's own operations, without bias or activation, of
// uniform random numbers in [-1, 1): sizes 512, 1024, ... as long as a product is predicted to take
// no more than 300 ms and the operands fit into half of the memory that is left. The time is the
// device's own clock, since waiting for a wake-up is no arithmetic. Binds no thread: on the host
// the stream's worker is bound to the device's core. Throws usage errors as make_operations().
[[nodiscard]] std::vector<ProductSpeed> measure_products(Device& device, Precision precision);

// The measured peak, in FLOP/s, which is that of the fastest size; 0 where no size fitted.
[[nodiscard]] double peak_flops(const std::vector<ProductSpeed>& products);

}  // namespace tandem::bench
