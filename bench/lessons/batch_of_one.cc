// SPDX-License-Identifier: Apache-2.0
#include "bench/lessons/all_lessons.h"
#include "bench/lessons/classroom.h"
#include "bench/lessons/training.h"
#include "common/model/zoo.h"

namespace tandem::bench {
namespace batch_of_one {

Finding run(Classroom& room) {
  const auto platform = room.devices(4);
  const auto model = make_model("linear");
  dp::DataParallel strategy(*platform, *model, plain_sgd(1));
  static_cast<void>(train(*platform, strategy, 1));
  return {holds_if(strategy.devices_used() == 1),
          {fmt::format("devices that took part in the step: {} of 4", strategy.devices_used())},
          kAlgorithm};
}

}  // namespace batch_of_one

const Lesson kBatchOfOne{
    "batch-of-one",
    "A batch of 1 is not split: one of four devices does all the work.",
    batch_of_one::run,
};

}  // namespace tandem::bench
