// SPDX-License-Identifier: Apache-2.0
#include "common/model/replay_plan.h"

#include <algorithm>
#include <cmath>

#include "common/base/error.h"
#include "common/base/rounding.h"

namespace tandem {
namespace {

// Shares `rows` out among `products` products, equal to within one row, at least one row each;
// makes more products where one would have too many rows.
ReplayPass shared_out(std::int64_t width, std::int64_t rows, std::int64_t products) {
  if (rows > 0) products = std::max<std::int64_t>(products, 1);
  products = std::max(products, ceil_div(rows, kMostProductRows));
  ReplayPass pass{.width = width, .rows = {}};
  for (std::int64_t i = 0; i < products; ++i) {
    const std::int64_t share = rows / products + (i < rows % products ? 1 : 0);
    pass.rows.push_back(std::max<std::int64_t>(share, 1));
  }
  return pass;
}

ReplayPass by_flops(double flops, std::int64_t products) {
  const double each = flops / static_cast<double>(std::max<std::int64_t>(products, 1));
  const std::int64_t width = product_width(each);
  const double row = 2.0 * static_cast<double>(width) * static_cast<double>(width);
  return shared_out(width, std::llround(flops / row), products);
}

// Interpolates the rows between the two measured batches on either side, in proportion.
std::int64_t rows_at(const std::vector<std::int64_t>& batches,
                     const std::vector<std::int64_t>& rows, std::int64_t batch) {
  const auto above = std::lower_bound(batches.begin(), batches.end(), batch);
  const auto high = static_cast<std::size_t>(above - batches.begin());
  if (*above == batch) return rows[high];
  const std::size_t low = high - 1;
  const double part =
      static_cast<double>(batch - batches[low]) / static_cast<double>(batches[high] - batches[low]);
  return std::llround(static_cast<double>(rows[low]) +
                      part * static_cast<double>(rows[high] - rows[low]));
}

double flops_of(const Workload& workload, const LayerPass& pass, std::int64_t batch) {
  if (!workload.timing) return pass.flops.value_or(0) * static_cast<double>(batch);
  TANDEM_CHECK(pass.products.has_value(), "{} is not calibrated", workload.name);
  const std::int64_t rows = rows_at(workload.timing->batches, pass.products->rows, batch);
  const auto width = static_cast<double>(pass.products->width);
  return 2 * static_cast<double>(rows) * width * width;
}

ReplayPass pass_of(const Workload& workload, const LayerPass& pass, std::int64_t others,
                   std::int64_t batch) {
  const std::int64_t products = std::max<std::int64_t>(pass.operations - others, 0);
  if (!workload.timing) {
    return by_flops(pass.flops.value_or(0) * static_cast<double>(batch), products);
  }
  TANDEM_CHECK(pass.products.has_value(), "{} is not calibrated", workload.name);
  return shared_out(pass.products->width,
                    rows_at(workload.timing->batches, pass.products->rows, batch), products);
}

}  // namespace

void check_batch(const Workload& workload, std::int64_t batch) {
  if (!workload.timing) return;
  const auto& batches = workload.timing->batches;
  if (batch >= batches.front() && batch <= batches.back()) return;
  fail(ErrorKind::kUsage,
       "workload '{}' was measured with batches of {} to {} per device, and a device gets {}: "
       "measure it there, or use another batch",
       workload.name, batches.front(), batches.back(), batch);
}

std::int64_t product_width(double flops) {
  std::int64_t width = kLeastProductWidth;
  while (width < kLargestProductWidth &&
         2 * std::pow(2.0 * static_cast<double>(width), 3) <= flops) {
    width *= 2;
  }
  return width;
}

double planned_flops(const Workload& workload, std::int64_t batch) {
  check_batch(workload, batch);
  double flops = 0;
  for (const WorkloadLayer& layer : workload.layers) {
    flops += flops_of(workload, layer.forward, batch) + flops_of(workload, layer.backward, batch);
  }
  return flops;
}

std::int64_t other_operations(const Workload& workload, std::size_t layer) {
  const bool moves = !workload.timing && workload.layers.at(layer).activation_bytes > 0;
  return std::ranges::count(workload.tensors, layer, &WorkloadTensor::layer) + (moves ? 1 : 0);
}

std::vector<ReplayLayer> plan_replay(const Workload& workload, std::int64_t batch) {
  check_batch(workload, batch);
  std::vector<ReplayLayer> plan;
  for (std::size_t i = 0; i < workload.layers.size(); ++i) {
    const WorkloadLayer& layer = workload.layers[i];
    const std::int64_t others = other_operations(workload, i);
    plan.push_back({.forward = pass_of(workload, layer.forward, others, batch),
                    .backward = pass_of(workload, layer.backward, others, batch),
                    .moves_activations = !workload.timing && layer.activation_bytes > 0});
  }
  return plan;
}

}  // namespace tandem
