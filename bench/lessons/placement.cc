// SPDX-License-Identifier: Apache-2.0
#include <string_view>

#include "bench/lessons/classroom.h"
#include "bench/lessons/run_lessons.h"
#include "bench/lessons/training.h"
#include "common/base/error.h"
#include "common/model/linear_stack.h"
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

LessonFinding run(Classroom& room) {
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

namespace device_ids_in_any_order {

constexpr int kSteps = 3;

LessonFinding run(Classroom& room) {
  const auto platform = room.devices(3);
  const auto model = make_model("mlp-tiny");
  const TrainingOptions options{.global_batch = 9};
  dp::DataParallel strategy(*platform, *model, options,
                            {.device_ids = {2, 0, 1}, .output_device = 1, .model_device = 2});
  const Trained wrapped = train(*platform, strategy, kSteps);
  const Trained single = train_single(*platform, *model, options, kSteps);
  const double difference = relative_difference(single, wrapped);
  const int root = strategy.weights().front().device().index;
  return {holds_if(root == 2 && difference < kRounding),
          {fmt::format("mlp-tiny, batch 9, outputs gathered on 1: {} steps as on one device within "
                       "{:.1e}; weights are updated on device {}",
                       kSteps, difference, root)},
          kAlgorithm};
}

}  // namespace device_ids_in_any_order

const Lesson kDeviceIdsInAnyOrder{
    "device-ids-in-any-order",
    "device_ids [2, 0, 1] works where the model is on 2, with the outputs on 1.",
    device_ids_in_any_order::run,
};

namespace inputs_on_device {

struct Case {
  InputPlace place;
  const char* name;
};

LessonFinding run(Classroom& room) {
  const auto platform = room.devices(3);
  const auto model = make_model("mlp-tiny");
  const auto trained_from = [&](InputPlace place) {
    return train_dp(*platform, *model, {.global_batch = 10, .input = place}, 3);
  };
  const Trained reference = trained_from(InputPlace::kDevice);
  LessonFinding finding{.evidence = {"on the first device: trains"}, .scope = kAlgorithm};
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

namespace misplaced_tensor {

constexpr std::int64_t kBatch = 8;
constexpr std::int64_t kOutputs = 5;

// A layer that adds a tensor which was put on one device when the layer was made. The tensor is
// neither parameter nor buffer, so nothing copies the tensor to the replicas.
class Misplaced final : public LinearStack {
 public:
  explicit Misplaced(Device& device)
      : LinearStack({.name = "misplaced",
                     .layers = {{.weight = "weight", .bias = "bias", .in = 10, .out = kOutputs}}}),
        tensor_(device.allocate(bytes_of<float>(kBatch * kOutputs))) {}

  void forward(Executor on, const ConstTensorList& parameters, ModuleState& state,
               Span<const float> input, Activations& activations) const override {
    LinearStack::forward(on, parameters, state, input, activations);
    const Span<float> output = activations.output();
    on.operations.enqueue(on.stream,
                          Add{.a = output, .b = tensor_->as<float>(output.size()), .sum = output});
  }

 private:
  const std::unique_ptr<Buffer> tensor_;
};

bool mentions(const Error& error, std::string_view text) {
  return std::string_view(error.what()).find(text) != std::string_view::npos;
}

LessonFinding run(Classroom& room) {
  const auto platform = room.devices(2);
  const Misplaced model(platform->device(0));
  const TrainingOptions options{.global_batch = kBatch};
  const auto alone =
      capture_error([&] { static_cast<void>(train_single(*platform, model, options, 1)); });
  const auto error =
      capture_error([&] { static_cast<void>(train_dp(*platform, model, options, 1)); });
  const bool clear = error && mentions(*error, "replica 1") &&
                     mentions(*error, to_string(platform->device(0).id())) &&
                     mentions(*error, to_string(platform->device(1).id()));
  return {holds_if(!alone && clear),
          {fmt::format("on one device: {}", alone ? alone->what() : "trains"),
           fmt::format("on two: {}", error ? error->what() : "trains")},
          kAlgorithm};
}

}  // namespace misplaced_tensor

const Lesson kMisplacedTensor{
    "misplaced-tensor",
    "A layer whose plain tensor lies on one device fails, and the error names devices and replica.",
    misplaced_tensor::run,
};

namespace custom_parameter {

constexpr int kSteps = 5;

LessonFinding run(Classroom& room) {
  const auto platform = room.devices(4);
  const auto model = make_model("custom");
  TrainingOptions options{.global_batch = 32};
  options.optimizer.kind = OptimizerKind::kAdam;
  double difference = 0;
  const auto error = capture_error([&] {
    difference = relative_difference(train_single(*platform, *model, options, kSteps).gradients,
                                     train_dp(*platform, *model, options, kSteps).gradients);
  });
  return {holds_if(error || difference > kRounding),
          {error ? error->what()
                 : fmt::format("custom, batch 32, Adam, 4 devices: gradients of step {} as on one "
                               "device within {:.1e}",
                               kSteps, difference)},
          kAlgorithm};
}

}  // namespace custom_parameter

const Lesson kCustomParameter{
    "custom-parameter",
    "A layer with a parameter of its own, multiplied by hand, goes wrong under DataParallel.",
    custom_parameter::run,
};

}  // namespace tandem::bench
