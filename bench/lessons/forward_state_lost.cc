// SPDX-License-Identifier: Apache-2.0
#include "bench/lessons/all_lessons.h"
#include "bench/lessons/classroom.h"
#include "bench/lessons/training.h"
#include "common/model/zoo.h"

namespace tandem::bench {
namespace forward_state_lost {

constexpr int kSteps = 5;
constexpr const char* kRebinding =
    "numerics: true of the algorithm anywhere, where attributes are rebound (self.calls += 1); an "
    "object that is changed in place (a list that is appended to) is not modelled here: torch's "
    "replicas share it by reference, and what they put into it stays";

double calls_in(const ModuleState& module) {
  const auto found = module.attributes.find("calls");
  return found == module.attributes.end() ? 0 : found->second;
}

Finding run(Classroom& room) {
  const auto platform = room.devices(3);
  const auto model = make_model("counter");
  dp::DataParallel strategy(*platform, *model, {.global_batch = 9});
  static_cast<void>(train(*platform, strategy, kSteps));
  const double attribute = calls_in(strategy.module());
  const float buffer = values_of(*platform, strategy.module().buffers).front().front();
  return {
      holds_if(attribute == 0 && buffer == kSteps),
      {fmt::format("forward ran {} times on each of 3 replicas", kSteps),
       fmt::format("counted in a plain attribute of the module, rebound in each: {}", attribute),
       fmt::format("counted in a buffer, in place: {}, the calls of replica 0 alone", buffer)},
      kRebinding};
}

}  // namespace forward_state_lost

const Lesson kForwardStateLost{
    "forward-state-lost",
    "Plain attributes that forward rebinds are lost, and what it writes to buffers in place stays "
    "for replica 0 alone.",
    forward_state_lost::run,
};

}  // namespace tandem::bench
