// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "common/kernels/operations.h"
#include "common/tensor/shape.h"
#include "ddp/compression/compression_options.h"

namespace tandem::ddp {

// The low-rank shape of a gradient in PowerSGD: a matrix M (n, m), n being the gradient's first
// extent, that P (n, r) and Q (m, r) stand for. The shape is that of a linear layer whose weight is
// M: in m, out n, and r is the layer's batch, so that P^T = Q^T M^T is the layer's forward, Q^T =
// P^T M the backward to the input, and M' = P Q^T the weight's gradient. P^T and Q^T are stored.
// Empty where compressing is not worth the work by torch's rule, (n + m) r rate < n m, and always
// for vectors and scalars.
[[nodiscard]] std::optional<LinearShape> low_rank_shape(const Shape& gradient,
                                                        const PowerSgdOptions& options);

// PowerSGD's division of the gradients of one bucket. Counts and offsets are in elements.
struct LowRankPlan {
  struct Matrix {
    std::size_t gradient = 0;  // index in the bucket
    LinearShape shape;
    std::int64_t offset_p = 0;      // into the bucket's P^T
    std::int64_t offset_q = 0;      // into the bucket's Q^T
    std::int64_t offset_error = 0;  // into the bucket's errors, at a cache line's start

    [[nodiscard]] std::int64_t count_p() const { return shape.batch * shape.out; }
    [[nodiscard]] std::int64_t count_q() const { return shape.batch * shape.in; }
    [[nodiscard]] std::int64_t count() const { return shape.in * shape.out; }
  };

  struct Other {  // a gradient that is averaged as it is
    std::size_t gradient = 0;
    std::int64_t offset = 0;  // into the buffer of all other gradients
    std::int64_t count = 0;
  };

  std::vector<Matrix> matrices;
  std::vector<Other> others;
  std::int64_t count_p = 0;
  std::int64_t count_q = 0;
  std::int64_t count_error = 0;
  std::int64_t count_others = 0;
};

[[nodiscard]] LowRankPlan plan_low_rank(const std::vector<Shape>& gradients,
                                        const PowerSgdOptions& options);

}  // namespace tandem::ddp
