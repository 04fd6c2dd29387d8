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

ReplayPass pass_of(const Workload& workload, const LayerPass& pass, std::int64_t others,
                   std::int64_t batch) {
  const std::int64_t products = std::max<std::int64_t>(pass.operations - others, 0);
  if (!workload.timing) {
    return by_flops(pass.flops.value_or(0) * static_cast<double>(batch), products);
  }
  const bool takes_time = std::ranges::any_of(pass.seconds, [](double s) { return s > 0; });
  const std::int64_t own = std::max<std::int64_t>(products, takes_time);
  return shared_out(kLeastProductWidth, own * batch, own);
}

// The number of operations of a pass that are not products.
std::int64_t other_operations(const Workload& workload, std::size_t layer) {
  const bool moves = !workload.timing && workload.layers.at(layer).activation_bytes > 0;
  return std::ranges::count(workload.tensors, layer, &WorkloadTensor::layer) + (moves ? 1 : 0);
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
