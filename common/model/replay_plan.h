// SPDX-License-Identifier: Apache-2.0
//
// The operations that a replay enqueues, as a pure function of the workload and the batch: the same
// on all ranks, whatever their speed.
#pragma once

#include <cstdint>
#include <vector>

#include "common/model/workload.h"

namespace tandem {

// The products of a pass, one after the other: rows[i] x width times width x width. A pass has as
// many operations as its layer says, including an operation for each tensor of the layer and, where
// passes are given by FLOPs, one operation that moves the layer's activations.
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
// for the speed of the layer's own products, narrow enough that rows resolve FLOPs finely.
[[nodiscard]] std::int64_t product_width(double flops);

// Throws a usage error where the workload is measured without batches on either side of this batch.
void check_batch(const Workload& workload, std::int64_t batch);

// The products of each layer. A pass given by FLOPs gets products of this number of FLOPs per
// sample. A measured pass, whose seconds a simulation takes whatever is multiplied, gets products
// of the least width with a row for each sample, so that their size tells the batch. Throws as
// check_batch.
[[nodiscard]] std::vector<ReplayLayer> plan_replay(const Workload& workload, std::int64_t batch);

}  // namespace tandem
