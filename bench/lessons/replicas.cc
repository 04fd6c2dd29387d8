// SPDX-License-Identifier: Apache-2.0
#include <optional>

#include "bench/lessons/classroom.h"
#include "bench/lessons/run_lessons.h"
#include "bench/lessons/training.h"
#include "common/model/zoo.h"
#include "common/parallel/independent.h"

namespace tandem::bench {

namespace parameters_never_update {

constexpr int kSteps = 50;

LessonFinding run(Classroom& room) {
  const auto platform = room.devices(4);
  const auto model = make_model("linear");
  const TrainingOptions options = plain_sgd(64);
  dp::DataParallel strategy(*platform, *model, options);
  const TensorValues initial = values_of(*platform, strategy.weights());
  static_cast<void>(train(*platform, strategy, 1));
  const float first = strategy.loss();
  const Trained wrapped = train(*platform, strategy, kSteps - 1);
  const Trained single = train_single(*platform, *model, options, kSteps);
  const double difference = relative_difference(single.weights, wrapped.weights);
  const double moved = relative_difference(initial, wrapped.weights);
  return {decide(moved == 0, difference < kRounding && strategy.loss() < first),
          {fmt::format(
               "linear, batch 64, SGD 0.01, 4 devices: loss {:.4f} in step 1, {:.4f} in step {}",
               first, strategy.loss(), kSteps),
           fmt::format("weights after {} steps are those of one device within {:.1e}", kSteps,
                       difference)},
          kAlgorithm};
}

}  // namespace parameters_never_update

const Lesson kParametersNeverUpdate{
    "parameters-never-update",
    "Parameters are not updated when a model is wrapped in DataParallel.",
    parameters_never_update::run,
};

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

LessonFinding run(Classroom& room) {
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

LessonFinding run(Classroom& room) {
  const TrainedDp dp = trained_dp(room, 3, "counter", {.global_batch = 9}, kSteps);
  const double attribute = calls_in(dp.strategy->module());
  const float buffer = values_of(*dp.platform, dp.strategy->module().buffers).front().front();
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

namespace old_weights {

constexpr int kSteps = 10;
constexpr auto kLargestDelay = std::chrono::microseconds(200);

Trained train_waiting(Platform& platform, const Model& model, const TrainingOptions& options) {
  dp::DataParallel strategy(platform, model, options);
  for (int step = 1; step < kSteps; ++step) static_cast<void>(train(platform, strategy, 1));
  return train(platform, strategy, 1);
}

// All steps are enqueued at once, while every shard of queued work starts late by a random time: a
// device that did not wait for the update would run ahead of the update.
LessonFinding run(Classroom& room) {
  const auto model = make_model("mlp-tiny");
  const TrainingOptions options{.global_batch = 16};
  const auto calm = room.devices(4);
  const auto disturbed = room.devices(4, {.largest_delay = kLargestDelay, .delay_seed = 1});
  const Trained waited = train_waiting(*calm, *model, options);
  const bool same = train_dp(*disturbed, *model, options, kSteps) == waited;
  return {holds_if(!same),
          {fmt::format("{} steps enqueued without a wait, work delayed at random on 4 devices: {} "
                       "as with a wait after each step",
                       kSteps, same ? "the same bits" : "other numbers")},
          kAlgorithm};
}

}  // namespace old_weights

const Lesson kOldWeights{
    "old-weights",
    "A device may begin the next batch before the weights are updated.",
    old_weights::run,
};

namespace replicas_rebuilt {

constexpr int kSteps = 4;

// Whether replica 1 holds, after a step, the weights that the module had before the step.
bool is_copy_of(Platform& platform, dp::DataParallel& strategy, const TensorValues& weights) {
  return values_of(platform, strategy.replica(1).parameters().tensors) == weights;
}

LessonFinding run(Classroom& room) {
  const auto platform = room.devices(2);
  const auto model = make_model("mlp-tiny");
  dp::DataParallel strategy(*platform, *model, {.global_batch = 8});
  int copied = 0;
  int timed = 0;
  for (int step = 0; step < kSteps; ++step) {
    const TensorValues before = values_of(*platform, strategy.weights());
    static_cast<void>(train(*platform, strategy, 1));
    if (is_copy_of(*platform, strategy, before)) ++copied;
    const auto phases = strategy.collect_phases();
    if (phases.back().times.of(Phase::kReplicate) > Nanoseconds{0}) ++timed;
  }
  return {
      holds_if(copied == kSteps && timed == kSteps),
      {fmt::format("replica 1 got the module's newest weights in {} of {} steps", copied, kSteps),
       fmt::format("its device spent time in replicate in {} of {}", timed, kSteps)},
      kAlgorithm};
}

}  // namespace replicas_rebuilt

const Lesson kReplicasRebuilt{
    "replicas-rebuilt",
    "The model is copied to the devices in every step, not once.",
    replicas_rebuilt::run,
};

namespace independent_copies {

constexpr int kSteps = 5;

LessonFinding run(Classroom& room) {
  const auto platform = room.devices(2);
  const auto model = make_model("mlp-tiny");
  const TrainingOptions options{.global_batch = 16};
  const TensorValues single = train_single(*platform, *model, options, kSteps).weights;
  const TensorValues wrapped = train_dp(*platform, *model, options, kSteps).weights;
  IndependentThreads apart(*platform, *model, options);
  const TensorValues independent = train(*platform, apart, kSteps).weights;
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

namespace update_on_every_device {

constexpr int kDevices = 4;

using Devices = std::vector<std::int64_t>;

std::string text_of(const Devices& devices) {
  if (devices.empty()) return "none";
  if (devices.size() == 1) return fmt::format("device {} alone", devices.front());
  return fmt::format("devices {}", joined(devices));
}

struct Found {
  Devices timed;      // devices that spent time in update
  Devices updated;    // devices that hold the updated weights after the step
  Devices untouched;  // devices that hold the weights of the step's start
};

Found look(const Classroom& room) {
  const TrainedDp dp = trained_dp(room, kDevices, "mlp-tiny", {.global_batch = 64}, 4);
  Platform& platform = *dp.platform;
  dp::DataParallel& strategy = *dp.strategy;
  const TensorValues before = values_of(platform, strategy.weights());
  const TensorValues after = train(platform, strategy, 1).weights;
  Found found;
  for (int i = 0; i < kDevices; ++i) {
    const TensorValues mine = values_of(platform, strategy.replica(i).parameters().tensors);
    if (mine == after) found.updated.push_back(i);
    if (mine == before) found.untouched.push_back(i);
  }
  for (const DeviceTimes& device : strategy.collect_phases()) {
    if (device.times.of(Phase::kUpdate) > Nanoseconds{0}) found.timed.push_back(device.device);
  }
  return found;
}

LessonFinding run(Classroom& room) {
  const Found found = look(room);
  const bool first_alone =
      found.updated == Devices{0} && found.timed == found.updated && found.untouched.size() == 3;
  return {decide(found.updated.size() == kDevices, first_alone),
          {fmt::format("ran the optimizer: {}, of {}", text_of(found.timed), kDevices),
           fmt::format("hold the updated weights after a step: {}", text_of(found.updated)),
           fmt::format("hold the weights that they were sent in it: {}", text_of(found.untouched))},
          kAlgorithm};
}

}  // namespace update_on_every_device

const Lesson kUpdateOnEveryDevice{
    "update-on-every-device",
    "Every device updates its own weights with the sum of the gradients.",
    update_on_every_device::run,
};

}  // namespace tandem::bench
