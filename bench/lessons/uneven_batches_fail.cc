// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "bench/lessons/all_lessons.h"
#include "bench/lessons/classroom.h"
#include "bench/lessons/training.h"
#include "common/base/error.h"
#include "common/model/zoo.h"

namespace tandem::bench {
namespace uneven_batches_fail {

constexpr int kSteps = 3;

struct Case {
  std::int64_t batch;
  int devices;
};

Finding run(Classroom& room) {
  const auto model = make_model("mlp-tiny");
  Finding finding{.scope = kAlgorithm};
  bool fails = false;
  for (const Case& each : {Case{10, 4}, Case{9, 4}, Case{33, 8}, Case{3, 8}}) {
    const auto platform = room.devices(each.devices);
    const TrainingOptions options{.global_batch = each.batch};
    double difference = 0;
    const auto error = capture_error([&] {
      difference = relative_difference(train_single(*platform, *model, options, kSteps),
                                       train_dp(*platform, *model, options, kSteps));
    });
    fails = fails || error || difference > kRounding;
    finding.evidence.push_back(fmt::format(
        "batch {} on {} devices: {}", each.batch, each.devices,
        error ? error->what()
              : fmt::format("{} steps as on one device within {:.1e}", kSteps, difference)));
  }
  finding.verdict = holds_if(fails);
  return finding;
}

}  // namespace uneven_batches_fail

const Lesson kUnevenBatchesFail{
    "uneven-batches-fail",
    "A batch that the devices do not divide fails, or trains wrongly.",
    uneven_batches_fail::run,
};

}  // namespace tandem::bench
