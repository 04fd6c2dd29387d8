// SPDX-License-Identifier: Apache-2.0
#include "common/kernels/simulated/simulated_operations.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include "common/base/error.h"
#include "common/hardware/operation_costs.h"
#include "common/kernels/each_operation.h"
#include "common/kernels/operation_key.h"
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
  SimulatedOperations(OperationCosts& costs, const Peaks& peaks) : costs_(costs), peaks_(peaks) {}

  template <class Op>
  void take(Stream& stream, const Op& op, const char* name) {
    check_placement(name, stream.device(), accesses(op));
    const OperationWork work{static_cast<double>(flops_of(op)), bytes_moved_by(op)};
    constexpr bool kIsConvolution = requires { convolution_flops(op.shape); };
    const double peak = kIsConvolution ? peaks_.convolutions : peaks_.products;
    AskedOperation asked{.name = name, .work = work, .peak = peak};
    std::string key;
    if (costs_.is_calibrated()) asked.key = key = key_of(op, name);
    simulated_stream(stream).compute(next_time(asked));
  }

 private:
  // What the operations of a key and of equal work cost, one after another.
  struct Occurrences {
    OperationCost cost;
    std::size_t next = 0;
  };

  Nanoseconds next_time(const AskedOperation& asked) {
    if (!costs_.is_calibrated()) return costs_.cost_of(asked).times.front();
    const auto [found, is_new] = occurrences_.try_emplace(
        {std::string(asked.key), asked.work.flops, asked.work.moved.value});
    Occurrences& all = found->second;
    if (is_new) all.cost = costs_.cost_of(asked);
    const Nanoseconds time = all.cost.times[all.next++ % all.cost.times.size()];
    costs_.note(all.cost.basis, time);
    return time;
  }

  OperationCosts& costs_;
  const Peaks peaks_;
  std::map<std::tuple<std::string, double, std::int64_t>, Occurrences> occurrences_;
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
  OperationCosts& costs = simulation_of(device).costs();
  const auto peak = peak_of(gpu, precision);
  if (!costs.is_described()) return std::make_unique<SimulatedOperations>(costs, Peaks{});
  if (!peak) {
    fail(ErrorKind::kUsage,
         "--precision={}: the description of {} has no figure for it: take another, or add one",
         name_of(precision), gpu.name);
  }
  const bool rounds = precision == Precision::kFp32 && !images.fp32_factors && gpu.tf32;
  return std::make_unique<SimulatedOperations>(
      costs,
      Peaks{.products = peak->value, .convolutions = rounds ? gpu.tf32->value : peak->value});
}

}  // namespace tandem::simulated
