// SPDX-License-Identifier: Apache-2.0
#include "common/kernels/simulated/simulated_operations.h"

#include <optional>
#include <string_view>

#include "common/base/error.h"
#include "common/hardware/operation_time.h"
#include "common/kernels/each_operation.h"
#include "common/kernels/operation_work.h"
#include "common/runtime/simulated/simulated_platform.h"
#include "common/runtime/simulated/simulated_stream.h"

namespace tandem::simulated {
namespace {

// FLOP per second at best.
struct Peaks {
  double products = 0;
  double convolutions = 0;
};

class SimulatedOperations final : public EachOperation<SimulatedOperations> {
 public:
  SimulatedOperations(const GpuDescription& gpu, const Peaks& peaks) : gpu_(gpu), peaks_(peaks) {}

  template <class Op>
  void take(Stream& stream, const Op& op, const char* name) {
    check_placement(name, stream.device(), accesses(op));
    const OperationWork work{static_cast<double>(flops_of(op)), bytes_moved_by(op)};
    constexpr bool kIsConvolution = requires { convolution_flops(op.shape); };
    const double peak = kIsConvolution ? peaks_.convolutions : peaks_.products;
    simulated_stream(stream).compute(operation_time(gpu_, peak, work));
  }

 private:
  const GpuDescription& gpu_;
  const Peaks peaks_;
};

std::optional<SourcedFigure<double>> peak_of(const GpuDescription& gpu, Precision precision) {
  switch (precision) {
    case Precision::kFp32:
      return gpu.fp32;
    case Precision::kTf32:
      return gpu.tf32;
    case Precision::kBf16:
      return gpu.bf16;
  }
  fail(ErrorKind::kLogic, "no such precision");
}

}  // namespace

std::unique_ptr<Operations> make_simulated_operations(Device& device, Precision precision,
                                                      const ImageOptions& images) {
  const GpuDescription& gpu = simulation_of(device).hardware().gpu;
  const auto peak = peak_of(gpu, precision);
  if (!peak) {
    fail(ErrorKind::kUsage,
         "--precision={}: the description of {} has no figure for it: take another, or add one",
         name_of(precision), gpu.name);
  }
  const bool rounds = precision == Precision::kFp32 && !images.fp32_factors && gpu.tf32;
  return std::make_unique<SimulatedOperations>(
      gpu, Peaks{.products = peak->value, .convolutions = rounds ? gpu.tf32->value : peak->value});
}

}  // namespace tandem::simulated
