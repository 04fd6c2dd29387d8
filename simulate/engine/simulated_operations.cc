// SPDX-License-Identifier: Apache-2.0
#include "simulate/engine/simulated_operations.h"

#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "common/base/error.h"
#include "common/kernels/operation_key.h"
#include "common/kernels/operation_work.h"
#include "common/kernels/operations.h"
#include "simulate/cost/operation_costs.h"
#include "simulate/engine/simulated_platform.h"
#include "simulate/engine/simulated_stream.h"

namespace tandem::simulated {
namespace {

// FLOP per second at best.
struct Peaks {
  double products = 0;
  double convolutions = 0;
};

// Whether forward, loss or backward have the operation; updates, and the sums of gradients that
// strategies add, are of no pass.
template <class Op>
inline constexpr bool kIsOfAPass = !kChangesInPlace<Op> && !std::is_same_v<Op, Add> &&
                                   !std::is_same_v<Op, Scale> && !std::is_same_v<Op, FillRandom>;

Nanoseconds times(double factor, Nanoseconds time) {
  return factor == 1 ? time : Nanoseconds{std::llround(factor * static_cast<double>(time.count()))};
}

class SimulatedOperations final : public EachOperation<SimulatedOperations> {
 public:
  SimulatedOperations(OperationCosts& costs, const Peaks& peaks, bool channels_last = true)
      : costs_(costs), peaks_(peaks), channels_last_(channels_last) {}

  template <class Op>
  void take(Stream& stream, const Op& op, const char* name) {
    check_placement(name, stream.device(), op.accesses());
    const OperationWork work{.flops = static_cast<double>(flops_of(op)),
                             .moved = bytes_moved_by(op),
                             .kind = kind_of<Op>(),
                             .product = product_of(op),
                             .relaid = relaid_bytes(op)};
    constexpr bool kIsConvolution = requires { convolution_flops(op.shape); };
    const double peak = kIsConvolution ? peaks_.convolutions : peaks_.products;
    AskedOperation asked{.name = name, .work = work, .peak = peak};
    std::string key;
    if (costs_.is_calibrated()) asked.key = key = key_of(op, name);
    const auto [time, basis] = next_cost(asked, kIsOfAPass<Op> ? costs_.scale() : 1);
    simulated_stream(stream).compute(time, basis);
  }

 private:
  template <class Op>
  [[nodiscard]] static DType type_of(const Op& op) {
    if constexpr (requires { op.x; }) {
      return op.x.dtype();
    } else {
      return op.dy.dtype();
    }
  }

  // A convolution's images that lie channels first: tensor cores take channels last, so that
  // libraries copy them before or behind the product.
  template <class Op>
  [[nodiscard]] Bytes relaid_bytes(const Op& op) const {
    if constexpr (requires { convolution_flops(op.shape); }) {
      if (channels_last_) return {};
      const ConvolutionShape& shape = op.shape;
      return Bytes{size_of(type_of(op)) * (shape.input_count() + shape.output_count())};
    } else {
      return {};
    }
  }

  // What the operations of a key and of equal work cost, one after another.
  struct Occurrences {
    OperationCost cost;
    std::size_t next = 0;
  };

  struct NextCost {
    Nanoseconds time{0};
    CostBasis basis = CostBasis::kDescribed;
  };
  NextCost next_cost(const AskedOperation& asked, double factor) {
    if (!costs_.is_calibrated()) {
      return {.time = times(factor, costs_.cost_of(asked).times.front())};
    }
    const auto [found, is_new] = occurrences_.try_emplace(
        {std::string(asked.key), asked.work.flops, asked.work.moved.value});
    Occurrences& all = found->second;
    if (is_new) all.cost = costs_.cost_of(asked);
    const Nanoseconds time = all.cost.times[all.next++ % all.cost.times.size()];
    return {times(factor, time), all.cost.basis};
  }

  OperationCosts& costs_;
  const Peaks peaks_;
  const bool channels_last_;
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

// What to take instead: "fp32, and fp16, which Tandem has not: take fp32".
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

std::unique_ptr<Operations> make_simulated_operations(Device& device, Precision precision,
                                                      const ImageOptions& images) {
  const GpuDescription& gpu = simulation_of(device).hardware().gpu;
  OperationCosts& costs = simulation_of(device).costs();
  const auto peak = peak_of(gpu, precision);
  if (!costs.is_described()) return std::make_unique<SimulatedOperations>(costs, Peaks{});
  if (!peak) {
    fail(ErrorKind::kUsage, "--precision={}: {} has {}", name_of(precision), gpu.name,
         precisions_of(gpu));
  }
  const bool rounds = precision == Precision::kFp32 && !images.fp32_factors && gpu.tf32;
  return std::make_unique<SimulatedOperations>(
      costs, Peaks{.products = peak->value, .convolutions = rounds ? gpu.tf32->value : peak->value},
      images.channels_last);
}

}  // namespace tandem::simulated
