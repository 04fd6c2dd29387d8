// SPDX-License-Identifier: Apache-2.0
#include "simulate/engine/simulated_operations.h"

#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/base/error.h"
#include "common/kernels/operation_key.h"
#include "common/kernels/operation_work.h"
#include "common/kernels/operations.h"
#include "simulate/cost/kernel_time.h"
#include "simulate/cost/operation_costs.h"
#include "simulate/cost/torch_kernels.h"
#include "simulate/engine/simulated_platform.h"
#include "simulate/engine/simulated_stream.h"

namespace tandem::simulated {
namespace {

// Whether forward, loss or backward have the operation; updates, and the sums of gradients that
// strategies add, are of no pass.
template <class Op>
inline constexpr bool kIsOfAPass = !kChangesInPlace<Op> && !std::is_same_v<Op, Add> &&
                                   !std::is_same_v<Op, Scale> && !std::is_same_v<Op, FillRandom>;

Nanoseconds times(double factor, Nanoseconds time) {
  return factor == 1 ? time : Nanoseconds{std::llround(factor * static_cast<double>(time.count()))};
}

void compute(SimulatedStream& stream, const ListedKernel& kernel, double factor) {
  const GpuDescription& gpu = stream.simulation().hardware().gpu;
  stream.compute(times(factor, kernel_time(gpu, kernel)),
                 is_plain_product(gpu, kernel) ? CostBasis::kPlain : CostBasis::kDescribed);
}

class SimulatedOperations final : public EachOperation<SimulatedOperations> {
 public:
  SimulatedOperations(OperationCosts& costs, const TorchTypes& types)
      : costs_(costs), types_(types) {}

  template <class Op>
  void take(Stream& stream, const Op& op, const char* name) {
    check_placement(name, stream.device(), op.accesses());
    const double factor = kIsOfAPass<Op> ? costs_.scale() : 1;
    std::vector<ListedKernel> kernels;
    if (costs_.is_described()) kernels = torch_kernels(op, types_);
    if (!costs_.is_calibrated()) {
      for (const ListedKernel& kernel : kernels) compute(simulated_stream(stream), kernel, factor);
      return;
    }
    const std::string key = key_of(op, name);
    const auto [time, basis] =
        next_cost({.name = name,
                   .key = key,
                   .work = {static_cast<double>(flops_of(op)), bytes_moved_by(op)},
                   .kernels = std::move(kernels)});
    simulated_stream(stream).compute(times(factor, time), basis);
  }

 private:
  // The costs of the operations of a key and of equal work, one after another.
  struct Occurrences {
    OperationCost cost;
    std::size_t next = 0;
  };

  struct NextCost {
    Nanoseconds time{0};
    CostBasis basis = CostBasis::kDescribed;
  };
  NextCost next_cost(const AskedOperation& asked) {
    const auto [found, is_new] = occurrences_.try_emplace(
        {std::string(asked.key), asked.work.flops, asked.work.moved.value});
    Occurrences& all = found->second;
    if (is_new) all.cost = costs_.cost_of(asked);
    return {all.cost.times[all.next++ % all.cost.times.size()], all.cost.basis};
  }

  OperationCosts& costs_;
  const TorchTypes types_;
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

// The advice: "fp32, and fp16, which Tandem has not: use fp32".
std::string precisions_of(const GpuDescription& gpu) {
  std::string names;
  for (const Precision precision : kPrecisions) {
    if (!peak_of(gpu, precision)) continue;
    names += fmt::format("{}{}", names.empty() ? "" : " or ", name_of(precision));
  }
  return fmt::format("{}{}: take {}", names, gpu.fp16 ? ", and fp16, which Tandem has not" : "",
                     names);
}

}  // namespace

bool takes_listed(Device& device) { return !simulation_of(device).costs().is_calibrated(); }

void enqueue_listed(Stream& stream, const ListedKernel& kernel) {
  SimulatedStream& simulated = simulated_stream(stream);
  const double factor = simulated.simulation().costs().scale();
  for (std::int64_t i = 0; i < kernel.count; ++i) compute(simulated, kernel, factor);
}

std::unique_ptr<Operations> make_simulated_operations(Device& device, Precision precision,
                                                      const ImageOptions& images) {
  const GpuDescription& gpu = simulation_of(device).hardware().gpu;
  OperationCosts& costs = simulation_of(device).costs();
  const auto peak = peak_of(gpu, precision);
  if (!costs.is_described()) return std::make_unique<SimulatedOperations>(costs, TorchTypes{});
  if (!peak) {
    fail(ErrorKind::kUsage, "--precision={}: {} has {}", name_of(precision), gpu.name,
         precisions_of(gpu));
  }
  const bool rounds = precision == Precision::kFp32 && !images.fp32_factors && gpu.tf32;
  const NumberType products = precision == Precision::kTf32 ? NumberType::kTf32 : NumberType::kFp32;
  return std::make_unique<SimulatedOperations>(
      costs,
      TorchTypes{.products = products,
                 .convolutions = rounds ? NumberType::kTf32 : products,
                 .images = images.channels_last ? KernelLayout::kLast : KernelLayout::kFirst});
}

}  // namespace tandem::simulated
