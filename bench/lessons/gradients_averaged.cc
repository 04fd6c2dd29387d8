// SPDX-License-Identifier: Apache-2.0
#include "bench/lessons/all_lessons.h"
#include "bench/lessons/classroom.h"
#include "bench/lessons/training.h"
#include "common/model/zoo.h"

namespace tandem::bench {
namespace {

// What a replica adds to the gradient: that of its own mean loss, times its share of the batch,
// since the loss is a mean over the whole of it.
Values contribution_of(Platform& platform, const Model& model, const Piece& piece,
                       const TrainingOptions& options) {
  Values gradient = train_single_on(platform, model, piece, options, 1).gradients;
  const auto share = static_cast<float>(piece.count) / static_cast<float>(options.global_batch);
  for (auto& tensor : gradient) {
    for (float& value : tensor) value *= share;
  }
  return gradient;
}

Values sum_of(const std::vector<Values>& all) {
  Values sum = all.front();
  for (std::size_t i = 1; i < all.size(); ++i) {
    for (std::size_t t = 0; t < sum.size(); ++t) {
      for (std::size_t e = 0; e < sum[t].size(); ++e) sum[t][e] += all[i][t][e];
    }
  }
  return sum;
}

Values divided(Values values, float divisor) {
  for (auto& tensor : values) {
    for (float& value : tensor) value /= divisor;
  }
  return values;
}

Finding run(Classroom& room) {
  const auto platform = room.devices(4);
  const auto model = make_model("mlp-tiny");
  const TrainingOptions options{.global_batch = 10};
  const Values wrapped = train_dp(*platform, *model, options, 1).gradients;
  std::vector<Values> contributions;
  for (const Piece& piece : chunk_batch(options.global_batch, 4)) {
    contributions.push_back(contribution_of(*platform, *model, piece, options));
  }
  const Values sum = sum_of(contributions);
  const double from_sum = relative_difference(sum, wrapped);
  const double from_average = relative_difference(divided(sum, 4), wrapped);
  return {decide(from_average < kRounding, from_sum < kRounding),
          {fmt::format("mlp-tiny, batch 10 on 4 devices: the module's gradient differs by {:.1e} "
                       "from the sum of what its replicas contribute",
                       from_sum),
           fmt::format("and by {:.1f} times the largest element from their average", from_average)},
          kAlgorithm};
}

}  // namespace

const Lesson kGradientsAveraged{
    "gradients-averaged",
    "DataParallel averages the gradients of its replicas.",
    run,
};

}  // namespace tandem::bench
