// SPDX-License-Identifier: Apache-2.0
#include <optional>

#include "bench/lessons/all_lessons.h"
#include "bench/lessons/classroom.h"
#include "bench/lessons/training.h"
#include "common/model/zoo.h"

namespace tandem::bench {
namespace replica_updates_lost {

void write_to_parameters(Replica& replica) {
  for (const Span<float> tensor : replica.parameters().tensors) {
    replica.operations().enqueue(replica.stream(), AddScalar{.values = tensor, .constant = 1});
  }
  replica.stream().synchronize();
}

// Trains three steps; after the first step, writes to the parameters of `replica`, where one is
// given.
Trained train_with_writer(Platform& platform, std::optional<int> replica) {
  const auto model = make_model("linear");
  dp::DataParallel strategy(platform, *model, plain_sgd(8));
  strategy.step();
  strategy.synchronize();
  if (replica) write_to_parameters(strategy.replica(*replica));
  return train(platform, strategy, 2);
}

Finding run(Classroom& room) {
  const auto platform = room.devices(2);
  const Trained untouched = train_with_writer(*platform, std::nullopt);
  const bool lost = train_with_writer(*platform, 1) == untouched;
  const bool kept = train_with_writer(*platform, 0) != untouched;
  return {holds_if(lost && kept),
          {fmt::format("1 added to all parameters of replica 1 after a step: training goes on {}",
                       lost ? "with the same bits as without" : "differently"),
           fmt::format("the same to replica 0, whose parameters are the module's own: {}",
                       kept ? "training goes on from them" : "no effect either")},
          kAlgorithm};
}

}  // namespace replica_updates_lost

const Lesson kReplicaUpdatesLost{
    "replica-updates-lost",
    "An update written to a replica's parameters is lost, but for replica 0, which is the module.",
    replica_updates_lost::run,
};

}  // namespace tandem::bench
