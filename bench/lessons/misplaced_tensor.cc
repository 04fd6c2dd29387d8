// SPDX-License-Identifier: Apache-2.0
#include <string_view>

#include "bench/lessons/all_lessons.h"
#include "bench/lessons/classroom.h"
#include "bench/lessons/training.h"
#include "common/base/error.h"
#include "common/model/linear_stack.h"

namespace tandem::bench {
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

Finding run(Classroom& room) {
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

}  // namespace tandem::bench
