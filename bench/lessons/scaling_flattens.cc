// SPDX-License-Identifier: Apache-2.0
#include "bench/lessons/all_lessons.h"
#include "bench/lessons/classroom.h"
#include "bench/lessons/timing.h"
#include "common/model/zoo.h"
#include "common/stats/paired.h"
#include "dp/data_parallel.h"

namespace tandem::bench {
namespace {

constexpr int kRounds = 40;
constexpr std::int64_t kBatch = 384;
constexpr double kBar = 1.0 + 1.0 / 6;  // half of what a fourth device adds to three: 4/3

dp::DataParallelOptions first_devices(int count) {
  dp::DataParallelOptions how;
  for (int i = 0; i < count; ++i) how.device_ids.push_back(i);
  return how;
}

Finding run(Classroom& room) {
  const auto platform = room.devices(4);
  const auto model = make_model("mlp-small");
  const TrainingOptions options = timed_training(kBatch);
  dp::DataParallel three(*platform, *model, options, first_devices(3));
  dp::DataParallel four(*platform, *model, options, first_devices(4));
  const auto seconds = interleave({step_of(four), step_of(three)}, kRounds);
  const stats::Estimate speed = stats::median_of_paired_ratios(seconds[0], seconds[1]);
  const Verdict more = above(speed, kBar);
  const bool decided = more != Verdict::kNotDecidable;
  return {decided ? holds_if(more == Verdict::kDoesNotHold) : more,
          {fmt::format(
              "mlp-small, batch {}: 4 devices are {} times as fast as 3{}; flat: below {:.2f}, "
              "half of what a fourth could add",
              kBatch, text_of(speed), decided ? "" : ", not resolved", kBar)},
          kHostOnly};
}

}  // namespace

const Lesson kScalingFlattens{
    "scaling-flattens", "Scaling flattens beyond two or three devices.", run, Ranks::kOne, 4,
};

}  // namespace tandem::bench
