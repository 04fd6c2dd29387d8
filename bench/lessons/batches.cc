// SPDX-License-Identifier: Apache-2.0
//
// Claims about what is asked of the user, and how batches are cut.
#include <fmt/ranges.h>

#include <algorithm>

#include "bench/lessons/lessons.h"
#include "bench/lessons/training.h"
#include "common/base/error.h"
#include "common/model/linear_stack.h"
#include "common/model/zoo.h"

namespace tandem::bench {
namespace {

LessonFinding goes_wrong(Classroom& room, const std::vector<Case>& cases) {
  LessonFinding finding;
  const auto is_wrong = [&](const Case& each) {
    return !trains_as_one(room, each, finding.evidence);
  };
  finding.verdict = holds_if(std::ranges::count_if(cases, is_wrong) > 0);
  return finding;
}

// Whether each batch's samples per replica are as `claimed` says.
template <class Claimed>
LessonFinding pieces_are(Classroom& room, const std::vector<std::int64_t>& batches,
                         const Claimed& claimed) {
  LessonFinding finding;
  bool all = true;
  for (const std::int64_t batch : batches) {
    const auto samples = TrainedDp(room, kDevices, "linear", plain_sgd(batch)).samples();
    all = all && claimed(samples);
    finding.evidence.push_back(fmt::format("batch {:>2} on {} devices: {}{}", batch, kDevices,
                                           fmt::join(samples, ", "),
                                           samples.size() < kDevices ? ", the rest idle" : ""));
  }
  finding.verdict = holds_if(all);
  return finding;
}

LessonFinding model_on_first_device(Classroom& room) {
  LessonFinding finding;
  std::array<bool, 2> trains{};
  for (const int device : {0, 1}) {
    const Case there{
        .batch = 6, .devices = 3, .how = {.device_ids = {0, 1, 2}, .model_device = device}};
    trains.at(static_cast<std::size_t>(device)) = trains_as_one(room, there, finding.evidence);
    finding.evidence.back().insert(0, fmt::format("device_ids 0, 1, 2, model on {}: ", device));
  }
  finding.verdict = holds_if(trains[0] && !trains[1]);
  return finding;
}

LessonFinding device_ids_in_any_order(Classroom& room) {
  LessonFinding finding;
  const Case there{.batch = 9,
                   .devices = 3,
                   .how = {.device_ids = {2, 0, 1}, .output_device = 1, .model_device = 2}};
  finding.verdict = holds_if(trains_as_one(room, there, finding.evidence));
  return finding;
}

LessonFinding inputs_on_device(Classroom& room) {
  const auto platform = room.devices(3);
  const auto model = make_model("mlp-tiny");
  const auto trained_from = [&](InputPlace place) {
    return train_dp(*platform, *model, {.global_batch = 10, .input = place});
  };
  const Trained there = trained_from(InputPlace::kDevice);
  const bool pinned = trained_from(InputPlace::kHost) == there;
  const bool pageable = trained_from(InputPlace::kPageable) == there;
  const auto said = [](bool same) { return same ? "the same bits" : "other numbers"; };
  return {holds_if(!pinned || !pageable),
          {fmt::format("against a batch on the first device: {} from pinned host memory, {} from "
                       "pageable memory",
                       said(pinned), said(pageable))}};
}

// A layer that adds a tensor which was put on one device when the layer was made. The tensor is
// neither parameter nor buffer, so nothing copies the tensor to the replicas.
class Misplaced final : public LinearStack {
 public:
  Misplaced(Device& device, std::int64_t outputs)
      : LinearStack({.name = "misplaced",
                     .layers = {{.weight = "weight", .bias = "bias", .in = 10, .out = 5}}}),
        tensor_(device.allocate(bytes_of<float>(outputs))) {}

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

LessonFinding misplaced_tensor(Classroom& room) {
  const auto platform = room.devices(2);
  const TrainingOptions options{.global_batch = 8};
  const Misplaced model(platform->device(0), options.global_batch * 5);
  const auto alone =
      capture_error([&] { static_cast<void>(train_single(*platform, model, options, 1)); });
  const auto error =
      capture_error([&] { static_cast<void>(train_dp(*platform, model, options, 1)); });
  const std::string said = error ? error->what() : "trains";
  const auto names = [&said](const std::string& text) { return said.find(text) != said.npos; };
  return {holds_if(!alone && names("replica 1") && names(to_string(platform->device(0).id())) &&
                   names(to_string(platform->device(1).id()))),
          {fmt::format("on one device: {}", alone ? alone->what() : "trains"),
           fmt::format("on two: {}", said)}};
}

// A batch of 9 leaves one of the devices without samples, a batch of 1 three devices.
LessonFinding output_shape(Classroom& room) {
  LessonFinding finding;
  bool all = true;
  for (const std::int64_t batch : {10, 9, 1}) {
    TrainedDp dp(room, kDevices, "linear", plain_sgd(batch));
    std::vector<float> outputs;
    for (int i = 0; i < dp.strategy.devices_used(); ++i) {
      const auto piece =
          values_of(*dp.platform, Span<const float>(dp.strategy.replica(i).output()));
      outputs.insert(outputs.end(), piece.begin(), piece.end());
    }
    const auto gathered = values_of(*dp.platform, dp.strategy.gathered());
    const bool whole = std::ssize(gathered) == batch * dp.model->output_width();
    all = all && whole && gathered == outputs;
    finding.evidence.push_back(fmt::format(
        "linear, batch {:>2}, pieces {}: {} values gathered, {}", batch,
        fmt::join(dp.samples(), ", "), gathered.size(),
        gathered == outputs ? "in the order of the batch" : "not what the replicas returned"));
  }
  finding.verdict = holds_if(all);
  return finding;
}

// Each replica returns the loss of its shard. With a batch of 9 one of the devices has no samples.
LessonFinding scalar_outputs(Classroom& room) {
  LessonFinding finding;
  bool by_device = true;
  bool by_replica = true;
  for (const std::int64_t batch : {8, 10, 9}) {
    TrainedDp dp(room, kDevices, "linear", plain_sgd(batch), 1, {.loss = dp::LossPlace::kReplicas});
    const auto losses = std::ssize(values_of(*dp.platform, dp.strategy.gathered()));
    by_device = by_device && losses == kDevices;
    by_replica = by_replica && losses == dp.strategy.devices_used();
    const auto warnings = dp.strategy.warnings();
    const bool warned = std::ranges::find(warnings, dp::scalars_warning()) != warnings.end();
    finding.evidence.push_back(fmt::format(
        "linear, batch {:>2} on {} devices, {} replicas: {} losses gathered, {}", batch, kDevices,
        dp.strategy.devices_used(), losses, warned ? "with torch's warning" : "without a warning"));
  }
  finding.verdict = decide(by_device, by_replica && !by_device);
  return finding;
}

LessonFinding root_memory(Classroom& room) {
  TrainingOptions options{.global_batch = 64};
  options.optimizer.kind = OptimizerKind::kAdam;
  const TrainedDp dp(room, kDevices, "mlp-small", options, 2);
  Bytes most;
  for (int i = 1; i < kDevices; ++i) most = std::max(most, dp.platform->device(i).memory().peak);
  const Bytes root = dp.platform->device(0).memory().peak;
  return {holds_if(root > most),
          {fmt::format("mlp-small, batch 64, Adam, {} devices: peak {} on the first, which also "
                       "holds the optimizer's state, the sum of the gradients and all outputs; {} "
                       "at most on the others",
                       kDevices, to_string(root), to_string(most))}};
}

LessonFinding padded_batches_break(Classroom& room) {
  Case padded{.batch = 4, .model = "padded", .optimizer = OptimizerKind::kAdam};
  std::vector<Case> cases;
  for (const auto& lengths : {std::vector<std::int64_t>{10, 20, 30, 40}, {5, 15, 25, 35}}) {
    padded.lengths = lengths;
    cases.push_back(padded);
  }
  return goes_wrong(room, cases);
}

}  // namespace

const std::vector<Lesson>& batch_lessons() {
  using Pieces = std::vector<std::int64_t>;
  static const std::vector<Lesson> all{
      {"model-on-first-device", "The model has to be on device_ids[0].", model_on_first_device},
      {"device-ids-in-any-order",
       "device_ids [2, 0, 1] works where the model is on 2, with the outputs on 1.",
       device_ids_in_any_order},
      {"inputs-on-device", "Inputs have to be on the first device before the call.",
       inputs_on_device},
      {"misplaced-tensor",
       "A layer whose plain tensor lies on one device fails, and the error names devices and "
       "replica.",
       misplaced_tensor},
      {"custom-parameter",
       "A layer with a parameter of its own, multiplied by hand, goes wrong under DataParallel.",
       [](Classroom& room) {
         return goes_wrong(room,
                           {{.batch = 32, .model = "custom", .optimizer = OptimizerKind::kAdam}});
       }},
      {"sixteen-each", "A batch of 64 on four devices is 16 samples each.",
       [](Classroom& room) {
         return pieces_are(room, {64}, [](const Pieces& p) { return p == Pieces(4, 16); });
       }},
      // As even as whole samples allow: no device is idle, no two differ by more than one sample.
      {"even-split", "Every batch is split as evenly as it can be.",
       [](Classroom& room) {
         return pieces_are(room, {8, 10, 9, 5}, [](const Pieces& p) {
           const auto [least, most] = std::ranges::minmax(p);
           return p.size() == kDevices && most - least <= 1;
         });
       }},
      {"batch-of-one", "A batch of 1 is not split: one of four devices does all the work.",
       [](Classroom& room) {
         return pieces_are(room, {1}, [](const Pieces& p) { return p.size() == 1; });
       }},
      {"batch-of-two", "A batch of 2 uses two of four devices.",
       [](Classroom& room) {
         return pieces_are(room, {2}, [](const Pieces& p) { return p.size() == 2; });
       }},
      {"uneven-batches-fail", "A batch that the devices do not divide fails, or trains wrongly.",
       [](Classroom& room) {
         return goes_wrong(room, {{.batch = 10},
                                  {.batch = 9},
                                  {.batch = 33, .devices = 8},
                                  {.batch = 3, .devices = 8}});
       }},
      {"padded-batches-break",
       "Batches of sequences of different lengths, padded to the longest, break DataParallel.",
       padded_batches_break},
      {"output-shape",
       "The output has the shape (full batch, ...), whatever the devices had of it.", output_shape},
      {"scalar-outputs",
       "Scalars that forward returns become a vector as long as the number of devices.",
       scalar_outputs},
      {"root-memory",
       "The first device holds more memory than the others.",
       root_memory,
       {.scope = "this implementation's allocations, which are those of the algorithm, without a "
                 "caching allocator's"}},
  };
  return all;
}

}  // namespace tandem::bench
