// SPDX-License-Identifier: Apache-2.0
#include "bench/lessons/all_lessons.h"
#include "bench/lessons/classroom.h"
#include "bench/lessons/training.h"
#include "common/base/error.h"
#include "common/model/zoo.h"

namespace tandem::bench {
namespace inputs_on_device {

struct Case {
  InputPlace place;
  const char* name;
};

Finding run(Classroom& room) {
  const auto platform = room.devices(3);
  const auto model = make_model("mlp-tiny");
  const auto trained_from = [&](InputPlace place) {
    return train_dp(*platform, *model, {.global_batch = 10, .input = place}, 3);
  };
  const Trained reference = trained_from(InputPlace::kDevice);
  Finding finding{.evidence = {"on the first device: trains"}, .scope = kAlgorithm};
  bool needed = false;
  for (const Case& each : {Case{InputPlace::kHost, "in pinned host memory"},
                           Case{InputPlace::kPageable, "in pageable host memory"}}) {
    bool same = false;
    const auto error = capture_error([&] { same = trained_from(each.place) == reference; });
    needed = needed || error || !same;
    const char* const outcome = same ? "trains, with the same bits" : "trains, differently";
    finding.evidence.push_back(fmt::format("{}: {}", each.name, error ? error->what() : outcome));
  }
  finding.verdict = holds_if(needed);
  return finding;
}

}  // namespace inputs_on_device

const Lesson kInputsOnDevice{
    "inputs-on-device",
    "Inputs have to be on the first device before the call.",
    inputs_on_device::run,
};

}  // namespace tandem::bench
