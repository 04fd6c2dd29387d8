// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "bench/lessons/all_lessons.h"
#include "bench/lessons/classroom.h"
#include "bench/lessons/training.h"
#include "common/model/zoo.h"
#include "common/parallel/shards.h"

namespace tandem::bench {
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
  const std::vector<Piece> pieces = chunk_batch(batch, platform.device_count());
  Losses losses{.batch = strategy.loss()};
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const SyntheticBatch data(platform, batch_shape(model, pieces[i]), options.seed,
                              options.distribution);
    const double loss = mean_squared_error(
        values_of(platform, Span<const float>(strategy.replica(static_cast<int>(i)).output())),
        {data.targets().begin(), data.targets().end()});
    losses.mean_of_replicas += loss / static_cast<double>(pieces.size());
    losses.weighted += loss * static_cast<double>(pieces[i].count) / static_cast<double>(batch);
  }
  return losses;
}

bool equal(const Losses& losses) {
  return std::abs(losses.mean_of_replicas - losses.batch) < kRounding * losses.batch;
}

Finding run(Classroom& room) {
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

}  // namespace tandem::bench
