// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "bench/lessons/classroom.h"
#include "bench/lessons/run_lessons.h"
#include "bench/lessons/training.h"
#include "common/model/zoo.h"
#include "common/parallel/shards.h"

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
  const TensorValues wrapped = train_dp(platform, model, options, 1, {.loss = place}).gradients;
  std::vector<TensorValues> contributions;
  std::vector<TensorValues> own;
  for (const Shard& shard : chunk_batch(batch, kDevices)) {
    contributions.push_back(contribution_of(platform, model, shard, options));
    own.push_back(train_single_on(platform, model, shard, options, 1).gradients);
  }
  const TensorValues sum = sum_of(contributions);
  return {relative_difference(sum, wrapped),
          relative_difference(scaled(sum, 1.0F / kDevices), wrapped),
          relative_difference(scaled(sum_of(own), 1.0F / kDevices), wrapped)};
}

// The claim is judged on the whole batch's mean loss and uneven shards, which tell the two readings
// of the claim apart; the reading under which the claim is true stands beside the verdict.
LessonFinding run(Classroom& room) {
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

namespace mean_of_losses {

struct Losses {
  double mean_of_replicas = 0;  // unweighted, as .mean() of the gathered vector
  double weighted = 0;          // weighted by samples
  double batch = 0;             // the strategy's own loss
};

Losses losses_of(Platform& platform, const Model& model, std::int64_t batch) {
  const TrainingOptions options = plain_sgd(batch);
  dp::DataParallel strategy(platform, model, options);
  strategy.step();
  strategy.synchronize();
  const std::vector<Shard> shards = chunk_batch(batch, platform.device_count());
  Losses losses{.batch = strategy.loss()};
  for (std::size_t i = 0; i < shards.size(); ++i) {
    const SyntheticBatch data(platform, batch_shape(model, shards[i]), options.seed,
                              options.distribution);
    const double loss = mean_squared_error(
        values_of(platform, Span<const float>(strategy.replica(static_cast<int>(i)).output())),
        {data.targets().begin(), data.targets().end()});
    losses.mean_of_replicas += loss / static_cast<double>(shards.size());
    losses.weighted += loss * static_cast<double>(shards[i].count) / static_cast<double>(batch);
  }
  return losses;
}

bool equal(const Losses& losses) {
  return std::abs(losses.mean_of_replicas - losses.batch) < kRounding * losses.batch;
}

LessonFinding run(Classroom& room) {
  const auto platform = room.devices(4);
  const auto model = make_model("linear");
  const Losses even = losses_of(*platform, *model, 8);
  const Losses uneven = losses_of(*platform, *model, 10);
  return {holds_if(equal(even) && equal(uneven)),
          {fmt::format("linear, batch 8 on 4 devices (2, 2, 2, 2): mean of the replicas' losses "
                       "{:.6f}, loss of the batch {:.6f}",
                       even.mean_of_replicas, even.batch),
           fmt::format("batch 10 (3, 3, 3, 1): {:.6f} and {:.6f}; weighted by samples {:.6f}",
                       uneven.mean_of_replicas, uneven.batch, uneven.weighted)},
          kAlgorithm};
}

}  // namespace mean_of_losses

const Lesson kMeanOfLosses{
    "mean-of-losses",
    "The plain mean of the replicas' losses is the loss of the batch.",
    mean_of_losses::run,
};

namespace backward_on_one_device {

constexpr int kDevices = 4;

bool any_is_nonzero(const TensorValues& values) {
  return std::any_of(values.begin(), values.end(), [](const auto& tensor) {
    return std::any_of(tensor.begin(), tensor.end(), [](float value) { return value != 0; });
  });
}

struct OwnGradients {
  int nonzero = 0;   // devices whose replica has nonzero gradients
  double worst = 0;  // largest difference from the gradients of the replica's own shard
};

// The gradients that backward left in each device's own memory, compared with those of the device's
// shard trained by itself.
OwnGradients gradients_of(const Classroom& room, const TrainingOptions& options) {
  const TrainedDp dp = trained_dp(room, kDevices, "mlp-tiny", options);
  OwnGradients found;
  const auto shards = chunk_batch(options.global_batch, kDevices);
  for (int i = 0; i < kDevices; ++i) {
    const TensorValues mine = values_of(*dp.platform, dp.strategy->replica_gradients(i));
    const TensorValues own =
        contribution_of(*dp.platform, *dp.model, shards[static_cast<std::size_t>(i)], options);
    if (any_is_nonzero(mine)) ++found.nonzero;
    found.worst = std::max(found.worst, relative_difference(own, mine));
  }
  return found;
}

LessonFinding run(Classroom& room) {
  const OwnGradients found = gradients_of(room, {.global_batch = 10});
  return {decide(found.nonzero == 1, found.nonzero == kDevices && found.worst < kRounding),
          {fmt::format("devices with gradients of their own that are not zero: {} of {}",
                       found.nonzero, kDevices),
           fmt::format("each device's are those of its own piece of the batch within {:.1e}",
                       found.worst)},
          kAlgorithm};
}

}  // namespace backward_on_one_device

const Lesson kBackwardOnOneDevice{
    "backward-on-one-device",
    "Backward runs on one device only.",
    backward_on_one_device::run,
};

}  // namespace tandem::bench
