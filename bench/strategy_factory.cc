// SPDX-License-Identifier: Apache-2.0
#include "bench/strategy_factory.h"

#include "common/parallel/independent.h"
#include "common/parallel/single.h"
#include "ddp/distributed_data_parallel.h"
#include "dp/data_parallel.h"

namespace tandem::bench {

std::unique_ptr<Strategy> make_strategy(Place& place, Launch launch, const Model& model,
                                        const Variant& variant) {
  Platform& platform = *place.platform;
  const TrainingOptions& training = variant.training;
  switch (variant.strategy) {
    case StrategyKind::kSingle:
      return std::make_unique<Single>(platform, *place.device, model,
                                      Piece{0, training.global_batch}, training);
    case StrategyKind::kIndependent: {
      if (launch == Launch::kThreads) {
        return std::make_unique<IndependentThreads>(platform, model, training);
      }
      const Communicator& ranks = *place.communicator;
      return std::make_unique<Single>(
          platform, *place.device, model,
          share_of_batch(training.global_batch, ranks.rank(), ranks.size()), training);
    }
    case StrategyKind::kDp:
      return std::make_unique<dp::DataParallel>(platform, model, training);
    case StrategyKind::kDdp:
      return std::make_unique<ddp::DistributedDataParallel>(
          platform, *place.device, model, *place.communicator, training, variant.reducer);
  }
  fail(ErrorKind::kLogic, "a strategy without a name");
}

}  // namespace tandem::bench
