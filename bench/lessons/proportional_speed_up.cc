// SPDX-License-Identifier: Apache-2.0
#include "bench/lessons/all_lessons.h"
#include "bench/lessons/classroom.h"
#include "bench/lessons/timing.h"
#include "common/model/zoo.h"
#include "common/parallel/single.h"
#include "common/stats/comparison.h"
#include "dp/data_parallel.h"

namespace tandem::bench {
namespace proportional_speed_up {

constexpr int kRounds = 60;
constexpr double kBar = 1.8;  // nine tenths of twice as fast

// The speed-up of two devices over one.
stats::Estimate speed_up(Classroom& room, std::int64_t batch) {
  const auto platform = room.devices(2);
  const auto model = make_model("mlp-small");
  const TrainingOptions options = timed_training(batch);
  Single single(*platform, platform->device(0), *model, {0, batch}, options);
  dp::DataParallel wrapped(*platform, *model, options);
  const auto seconds = interleave({step_of(wrapped), step_of(single)}, kRounds);
  return stats::median_of_paired_ratios(seconds[0], seconds[1]);
}

// One batch that contradicts the claim refutes its "always"; only all batches bear the claim out.
Finding run(Classroom& room) {
  Finding finding{.verdict = Verdict::kHolds, .scope = kHostOnly};
  for (const std::int64_t batch : {16, 64, 256}) {
    const stats::Estimate speed = speed_up(room, batch);
    const Verdict verdict = above(speed, kBar);
    if (verdict == Verdict::kDoesNotHold) finding.verdict = verdict;
    if (verdict == Verdict::kNotDecidable && finding.verdict == Verdict::kHolds) {
      finding.verdict = verdict;
    }
    finding.evidence.push_back(
        fmt::format("mlp-small, batch {:>3}: 2 devices are {} times as fast "
                    "as one{}; in proportion: above {}",
                    batch, text_of(speed), unresolved_note(verdict, kBar), kBar));
  }
  return finding;
}

}  // namespace proportional_speed_up

const Lesson kProportionalSpeedUp{
    "proportional-speed-up",
    "DataParallel always trains faster in proportion to the number of devices.",
    proportional_speed_up::run,
    Ranks::kOne,
    2,
};

}  // namespace tandem::bench
