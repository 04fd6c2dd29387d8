// SPDX-License-Identifier: Apache-2.0
#include "ddp/compression/low_rank_plan.h"

#include <algorithm>

#include "common/model/parameter_layout.h"

namespace tandem::ddp {
namespace {

void add(LowRankPlan& plan, std::size_t gradient, const LinearShape& shape) {
  const LowRankPlan::Matrix matrix{.gradient = gradient,
                                   .shape = shape,
                                   .offset_p = plan.count_p,
                                   .offset_q = plan.count_q,
                                   .offset_error = plan.count_error};
  plan.count_p += matrix.count_p();
  plan.count_q += matrix.count_q();
  plan.count_error += aligned_count(matrix.count());
  plan.matrices.push_back(matrix);
}

void add_uncompressed(LowRankPlan& plan, std::size_t gradient, std::int64_t count) {
  plan.others.push_back({gradient, plan.count_others, count});
  plan.count_others += count;
}

}  // namespace

std::optional<LinearShape> low_rank_shape(const Shape& gradient, const PowerSgdOptions& options) {
  if (gradient.dims().size() < 2 || gradient.count() == 0) return std::nullopt;
  const std::int64_t n = gradient.dims().front();
  const std::int64_t m = gradient.count() / n;
  const std::int64_t r = std::min({n, m, std::int64_t{options.rank}});
  const double factors = static_cast<double>((n + m) * r);
  const bool worth_it = factors * options.min_compression_rate < static_cast<double>(n * m);
  if (!worth_it) return std::nullopt;
  return LinearShape{.batch = r, .in = m, .out = n};
}

LowRankPlan plan_low_rank(const std::vector<Shape>& gradients, const PowerSgdOptions& options) {
  LowRankPlan plan;
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    if (const auto shape = low_rank_shape(gradients[i], options)) {
      add(plan, i, *shape);
    } else {
      add_uncompressed(plan, i, gradients[i].count());
    }
  }
  return plan;
}

}  // namespace tandem::ddp
