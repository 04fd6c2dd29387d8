// SPDX-License-Identifier: Apache-2.0
#include "bench/lessons/all_lessons.h"
#include "bench/lessons/classroom.h"
#include "bench/lessons/training.h"
#include "common/model/zoo.h"
#include "common/parallel/independent.h"

namespace tandem::bench {
namespace independent_copies {

constexpr int kSteps = 5;

Finding run(Classroom& room) {
  const auto platform = room.devices(2);
  const auto model = make_model("mlp-tiny");
  const TrainingOptions options{.global_batch = 16};
  const Values single = train_single(*platform, *model, options, kSteps).weights;
  const Values wrapped = train_dp(*platform, *model, options, kSteps).weights;
  IndependentThreads apart(*platform, *model, options);
  const Values independent = train(*platform, apart, kSteps).weights;
  const double from_batch = relative_difference(single, wrapped);
  const double from_apart = relative_difference(independent, wrapped);
  return {decide(from_apart < kRounding, from_batch < kRounding),
          {fmt::format("{} steps on 2 devices: weights as those of the whole batch on one device "
                       "within {:.1e}",
                       kSteps, from_batch),
           fmt::format("as those of copies that really train apart: within {:.1e}", from_apart)},
          kAlgorithm};
}

}  // namespace independent_copies

const Lesson kIndependentCopies{
    "independent-copies",
    "Each device trains its own copy of the model, without synchronisation.",
    independent_copies::run,
};

}  // namespace tandem::bench
