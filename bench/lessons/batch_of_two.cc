// SPDX-License-Identifier: Apache-2.0
#include "bench/lessons/all_lessons.h"
#include "bench/lessons/classroom.h"
#include "bench/lessons/training.h"
#include "common/model/zoo.h"

namespace tandem::bench {
namespace batch_of_two {

Finding run(Classroom& room) {
  const auto platform = room.devices(4);
  const auto model = make_model("linear");
  dp::DataParallel strategy(*platform, *model, plain_sgd(2));
  static_cast<void>(train(*platform, strategy, 1));
  return {holds_if(strategy.devices_used() == 2),
          {fmt::format("devices that took part in the step: {} of 4", strategy.devices_used())},
          kAlgorithm};
}

}  // namespace batch_of_two

const Lesson kBatchOfTwo{
    "batch-of-two",
    "A batch of 2 uses two of four devices.",
    batch_of_two::run,
};

}  // namespace tandem::bench
