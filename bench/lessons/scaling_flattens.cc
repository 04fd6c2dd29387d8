// SPDX-License-Identifier: Apache-2.0
#include "bench/job/link_account.h"
#include "bench/lessons/all_lessons.h"
#include "bench/lessons/classroom.h"
#include "bench/lessons/timing.h"
#include "common/model/zoo.h"
#include "common/parallel/single.h"
#include "common/runtime/link_request.h"
#include "common/stats/comparison.h"
#include "common/stats/summary.h"
#include "dp/data_parallel.h"

namespace tandem::bench {
namespace scaling_flattens {

constexpr int kRounds = 40;
constexpr const char* kModel = "mlp-small";
constexpr std::int64_t kBatch = 384;
// The batch is large enough for a second device to pay on the faster link.
constexpr std::int64_t kModelledBatch = 2048;
constexpr int kModelledRounds = 8;
constexpr double kBar = 1.0 + 1.0 / 6;  // half of what a fourth device adds to three: 4/3

dp::DataParallelOptions first_devices(int count) {
  dp::DataParallelOptions how;
  for (int i = 0; i < count; ++i) how.device_ids.push_back(i);
  return how;
}

Finding measure(Classroom& room) {
  const auto platform = room.devices(4);
  const auto model = make_model(kModel);
  const TrainingOptions options = timed_training(kBatch);
  dp::DataParallel three(*platform, *model, options, first_devices(3));
  dp::DataParallel four(*platform, *model, options, first_devices(4));
  const auto seconds = interleave({step_of(four), step_of(three)}, kRounds);
  const stats::Estimate speed = stats::median_of_paired_ratios(seconds[0], seconds[1]);
  const Verdict more = above(speed, kBar);
  const bool decided = more != Verdict::kNotDecidable;
  return {decided ? holds_if(more == Verdict::kDoesNotHold) : more,
          {fmt::format("{}, batch {}: 4 devices are {} times as fast as 3{}; flat: below {:.2f}, "
                       "half of what a fourth could add",
                       kModel, kBatch, text_of(speed), decided ? "" : ", not resolved", kBar)},
          kHostOnly};
}

// The modelled step: compute is shared evenly, and the weights go to each other device, and the
// gradients come back, one device at a time through the root's port, as in torch without NCCL.
double modelled_step(double single, const LinkModel& link, Bytes weights, int devices) {
  return single / devices + 2 * Seconds(copy_loop_time(link, weights, devices)).count();
}

struct OneDevice {
  double step = 0;  // seconds, as measured
  double flops = 0;
  Bytes weights;
};

OneDevice measure_one(Classroom& room) {
  const auto platform = room.devices(1);
  const auto model = make_model(kModel);
  Single single(*platform, platform->device(0), *model, {0, kModelledBatch},
                timed_training(kModelledBatch));
  return {stats::median(interleave({step_of(single)}, kModelledRounds).front()),
          measured_core_flops(room.first_core()),
          bytes_of<float>(model->layout().parameter_count())};
}

std::string modelled(const OneDevice& one, const char* preset) {
  const LinkModel link = scaled(parse_link(preset), one.flops);
  std::string text = fmt::format(
      "by formula, not run: over a link {}, {} at batch {}: times as fast as one device", preset,
      kModel, kModelledBatch);
  for (const int devices : {2, 3, 4, 8}) {
    text += fmt::format("{} {:.2f} on {}", devices == 2 ? ":" : ",",
                        one.step / modelled_step(one.step, link, one.weights, devices), devices);
  }
  return text;
}

// The model is a formula, no measurement, and decides nothing.
Finding run(Classroom& room) {
  if (room.cores() >= 4) return measure(room);
  const OneDevice one = measure_one(room);
  return {Verdict::kNotDecidable,
          {fmt::format("needs 4 cores, a device on each, and {} may be used here", room.cores()),
           modelled(one, "pcie4@a100-fp32"), modelled(one, "nvlink3@a100-fp32")},
          "by formula, link scaled to one core's speed; no more than one device was run, in one "
          "launch"};
}

}  // namespace scaling_flattens

const Lesson kScalingFlattens{
    "scaling-flattens",
    "Scaling flattens beyond two or three devices.",
    scaling_flattens::run,
};

}  // namespace tandem::bench
