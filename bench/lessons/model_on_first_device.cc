// SPDX-License-Identifier: Apache-2.0
#include "bench/lessons/all_lessons.h"
#include "bench/lessons/classroom.h"
#include "bench/lessons/training.h"
#include "common/base/error.h"
#include "common/model/zoo.h"

namespace tandem::bench {
namespace model_on_first_device {

std::optional<Error> error_with_model_on(Platform& platform, int device) {
  const auto model = make_model("linear");
  return capture_error([&] {
    static_cast<void>(train_dp(platform, *model, plain_sgd(6), 1,
                               {.device_ids = {0, 1, 2}, .model_device = device}));
  });
}

Finding run(Classroom& room) {
  const auto platform = room.devices(3);
  const auto there = error_with_model_on(*platform, 0);
  const auto elsewhere = error_with_model_on(*platform, 1);
  return {holds_if(!there && elsewhere),
          {fmt::format("device_ids 0, 1, 2, model on 0: {}", there ? there->what() : "trains"),
           fmt::format("model on 1: {}", elsewhere ? elsewhere->what() : "trains")},
          kAlgorithm};
}

}  // namespace model_on_first_device

const Lesson kModelOnFirstDevice{
    "model-on-first-device",
    "The model has to be on device_ids[0].",
    model_on_first_device::run,
};

}  // namespace tandem::bench
