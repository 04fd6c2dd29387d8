// SPDX-License-Identifier: Apache-2.0
#include "bench/lessons/all_lessons.h"
#include "bench/lessons/classroom.h"
#include "bench/lessons/training.h"
#include "common/model/zoo.h"

namespace tandem::bench {
namespace gradients_averaged {

constexpr int kDevices = 4;
constexpr const char* kOfTheMean =
    "numerics: true of the algorithm anywhere, for a loss that is a mean over the whole batch and "
    "what each replica contributes to its gradient; a mean of the replicas' own losses brings a "
    "division by their number, which is that loss's, not DataParallel's";

// Distances of the module's gradient in the first step from combinations of the replicas'
// gradients.
struct Distances {
  double sum = 0;      // from the sum of the replicas' contributions
  double average = 0;  // from the average of the replicas' contributions
  double own = 0;      // from the average of the gradients of the replicas' own mean losses
};

Distances distances_of(Platform& platform, const Model& model, std::int64_t batch,
                       dp::LossPlace place) {
  const TrainingOptions options{.global_batch = batch};
  const Values wrapped = train_dp(platform, model, options, 1, {.loss = place}).gradients;
  std::vector<Values> contributions;
  std::vector<Values> own;
  for (const Piece& piece : chunk_batch(batch, kDevices)) {
    contributions.push_back(contribution_of(platform, model, piece, options));
    own.push_back(train_single_on(platform, model, piece, options, 1).gradients);
  }
  const Values sum = sum_of(contributions);
  return {relative_difference(sum, wrapped),
          relative_difference(scaled(sum, 1.0F / kDevices), wrapped),
          relative_difference(scaled(sum_of(own), 1.0F / kDevices), wrapped)};
}

// The claim is judged on the whole batch's mean loss and uneven pieces, which tell the two readings
// of the claim apart; the reading under which the claim is true stands beside the verdict.
Finding run(Classroom& room) {
  const auto platform = room.devices(kDevices);
  const auto model = make_model("mlp-tiny");
  const Distances uneven = distances_of(*platform, *model, 10, dp::LossPlace::kRoot);
  const Distances even = distances_of(*platform, *model, 8, dp::LossPlace::kReplicas);
  return {decide(uneven.average < kRounding, uneven.sum < kRounding),
          {fmt::format("mean loss of the whole batch, 10 on {} devices: the module's gradient "
                       "differs by {:.1e} from the sum of what its replicas contribute",
                       kDevices, uneven.sum),
           fmt::format("and by {:.1f} times the largest element from their average; by {:.2f} from "
                       "the average of the gradients of their own mean losses",
                       uneven.average, uneven.own),
           fmt::format("the other reading: mean of the replicas' mean losses, even pieces (8 on "
                       "{}): it is the average of the gradients of those within {:.1e}",
                       kDevices, even.own)},
          kOfTheMean};
}

}  // namespace gradients_averaged

const Lesson kGradientsAveraged{
    "gradients-averaged",
    "DataParallel averages the gradients of its replicas.",
    gradients_averaged::run,
};

}  // namespace tandem::bench
