// SPDX-License-Identifier: Apache-2.0
#include "simulate/cost/operation_time.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace tandem {
namespace {

constexpr std::int64_t kSplitDepths = 16;  // in half depths

Nanoseconds rounded(double seconds) { return Nanoseconds{std::llround(seconds * 1e9)}; }

// The side of a tile along an axis of this length: libraries have smaller tiles for short axes.
std::int64_t tile_side(std::int64_t length, int tile) {
  const auto next_power =
      static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(length)));
  return std::clamp<std::int64_t>(next_power, 1, tile);
}

std::int64_t tiles_along(std::int64_t length, int tile) {
  const std::int64_t side = tile_side(length, tile);
  return (length + side - 1) / side;
}

bool is_plain(const GpuDescription& gpu, double peak) { return peak <= gpu.fp32.value; }

double highest_peak(const GpuDescription& gpu) {
  double highest = gpu.fp32.value;
  for (const auto& peak : {gpu.tf32, gpu.bf16, gpu.fp16}) {
    if (peak) highest = std::max(highest, peak->value);
  }
  return highest;
}

// The share of the peak that large products of this kind reach.
double best_share(const GpuDescription& gpu, double peak, OperationKind kind) {
  if (!gpu.shares) return gpu.product_share.value;
  const OperationShares& shares = *gpu.shares;
  switch (kind) {
    case OperationKind::kConvolution:
      return is_plain(gpu, peak) ? shares.plain_convolution.value : shares.convolution.value;
    case OperationKind::kAttention:
      return shares.attention.value;
    case OperationKind::kProduct:
    case OperationKind::kNormalisation:
    case OperationKind::kOther:
      break;
  }
  if (is_plain(gpu, peak)) return shares.plain_product.value;
  return shares.product.value * gpu.product_share.value;  // GPUs differ in what their best reaches
}

Nanoseconds moving_time(const GpuDescription& gpu, const OperationWork& work) {
  if (!gpu.shares || work.kind != OperationKind::kNormalisation) {
    return memory_time(gpu, work.moved);
  }
  const double reached = gpu.memory_bandwidth.value * gpu.shares->normalisation.value;
  return std::max(gpu.least_time.value, rounded(static_cast<double>(work.moved.value) / reached));
}

}  // namespace

double shape_share(const GpuDescription& gpu, double peak, const ProductShape& shape) {
  if (!gpu.shares || shape.rows <= 0) return 1;
  const int tile = gpu.shares->tile.value;
  const std::int64_t half = gpu.shares->half_depth.value;
  const std::int64_t splits = std::max<std::int64_t>(1, shape.depth / (kSplitDepths * half));
  const std::int64_t pieces =
      tiles_along(shape.rows, tile) * tiles_along(shape.columns, tile) * shape.count * splits;
  const std::int64_t processors = gpu.multiprocessors.value;
  const std::int64_t waves = (pieces + processors - 1) / processors;
  const double busy = static_cast<double>(pieces) / static_cast<double>(waves * processors);
  const auto depth = static_cast<double>(shape.depth);
  return busy * depth / (depth + static_cast<double>(half) * peak / highest_peak(gpu));
}

Nanoseconds operation_time(const GpuDescription& gpu, double peak, const OperationWork& work) {
  const Nanoseconds moving = moving_time(gpu, work);
  if (work.flops <= 0) return moving;
  const double share = best_share(gpu, peak, work.kind) * shape_share(gpu, peak, work.product);
  const Nanoseconds time = std::max(moving, rounded(work.flops / (peak * share)));
  if (!gpu.shares || is_plain(gpu, peak) || work.relaid.value == 0) return time;
  return time + memory_time(gpu, work.relaid * 2);  // read and written
}

Nanoseconds memory_time(const GpuDescription& gpu, Bytes moved) {
  const double reached = gpu.memory_bandwidth.value * gpu.memory_share.value;
  return std::max(gpu.least_time.value, rounded(static_cast<double>(moved.value) / reached));
}

}  // namespace tandem
