// SPDX-License-Identifier: Apache-2.0
//
// What a replay enqueues, as a pure function of the workload and the batch: the same on all ranks,
// whatever their speed.
#pragma once

#include <cstdint>
#include <vector>

#include "common/model/workload.h"

namespace tandem {

// Products of a pass, one after the other: rows[i] x width times width x width. A pass has as many
// operations as its layer says, the ones below included: an operation for each tensor of the layer
// and, where passes are given by FLOPs, one that moves the layer's activations.
struct ReplayPass {
  std::int64_t width = 0;
  std::vector<std::int64_t> rows{};
};

struct ReplayLayer {
  ReplayPass forward{};
  ReplayPass backward{};
  bool moves_activations = false;
};

// The least and the largest width of a product, and the most rows of one.
inline constexpr std::int64_t kLeastProductWidth = 16;
inline constexpr std::int64_t kLargestProductWidth = 4096;
inline constexpr std::int64_t kMostProductRows = 8192;

// The power of two next below the side of a cube of so many FLOPs, within these bounds: wide enough
// to be multiplied as fast as the layer's own products, narrow enough that rows tell FLOPs finely.
[[nodiscard]] std::int64_t product_width(double flops);

// Operations of a pass that are no products.
[[nodiscard]] std::int64_t other_operations(const Workload& workload, std::size_t layer);

// A usage error where the workload is measured, and not with batches on either side of this one.
void check_batch(const Workload& workload, std::int64_t batch);

// FLOPs of the products of forward and backward, before they are planned. Throws as check_batch.
[[nodiscard]] double planned_flops(const Workload& workload, std::int64_t batch);

// By layer. Of a pass given by FLOPs, products of so many per sample; of a measured one, its
// calibrated products, between two batches in proportion. Throws as check_batch; a logic error
// where products are not calibrated yet.
[[nodiscard]] std::vector<ReplayLayer> plan_replay(const Workload& workload, std::int64_t batch);

}  // namespace tandem
