// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "bench/lessons/all_lessons.h"
#include "bench/lessons/classroom.h"
#include "bench/lessons/training.h"
#include "common/model/zoo.h"

namespace tandem::bench {
namespace sixteen_each {

Finding run(Classroom& room) {
  const auto platform = room.devices(4);
  const auto model = make_model("linear");
  dp::DataParallel strategy(*platform, *model, plain_sgd(64));
  static_cast<void>(train(*platform, strategy, 1));
  const auto samples = samples_per_replica(strategy, *model);
  const bool all = std::all_of(samples.begin(), samples.end(), [](auto n) { return n == 16; });
  return {holds_if(all && samples.size() == 4),
          {fmt::format("samples per replica: {}", joined(samples))},
          kAlgorithm};
}

}  // namespace sixteen_each

const Lesson kSixteenEach{
    "sixteen-each",
    "A batch of 64 on four devices is 16 samples each.",
    sixteen_each::run,
};

}  // namespace tandem::bench
