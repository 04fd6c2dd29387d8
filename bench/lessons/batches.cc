// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "bench/lessons/classroom.h"
#include "bench/lessons/run_lessons.h"
#include "bench/lessons/training.h"
#include "common/base/error.h"
#include "common/model/linear_stack.h"
#include "common/model/zoo.h"

namespace tandem::bench {

namespace sixteen_each {

LessonFinding run(Classroom& room) {
  const auto samples = samples_per_replica(trained_dp(room, 4, "linear", plain_sgd(64)));
  const bool all = std::all_of(samples.begin(), samples.end(), [](auto n) { return n == 16; });
  return {holds_if(all && samples.size() == 4),
          {fmt::format("samples per replica: {}", joined(samples))},
          kAlgorithm};
}

}  // namespace sixteen_each

const Lesson kSixteenEach{
    "sixteen-each",
    "A batch of 64 on four devices is 16 samples each.",
    sixteen_each::run,
};

namespace even_split {

constexpr int kDevices = 4;

LessonFinding run(Classroom& room) {
  LessonFinding finding{.scope = kAlgorithm};
  bool even = true;
  for (const std::int64_t batch : {8, 10, 9, 5}) {
    const auto samples =
        samples_per_replica(trained_dp(room, kDevices, "linear", plain_sgd(batch)));
    const auto [least, most] = std::minmax_element(samples.begin(), samples.end());
    // The split is as even as whole samples allow: no device is idle, and no two devices differ by
    // more than one sample.
    even = even && samples.size() == kDevices && *most - *least <= 1;
    finding.evidence.push_back(fmt::format("batch {:>2} on {} devices: {}{}", batch, kDevices,
                                           joined(samples),
                                           samples.size() < kDevices ? ", the rest idle" : ""));
  }
  finding.verdict = holds_if(even);
  return finding;
}

}  // namespace even_split

const Lesson kEvenSplit{
    "even-split",
    "Every batch is split as evenly as it can be.",
    even_split::run,
};

namespace {

// A batch of so many samples takes as many of four devices.
template <int kSamples>
LessonFinding takes_a_device_each(Classroom& room) {
  const int used = trained_dp(room, 4, "linear", plain_sgd(kSamples)).strategy->devices_used();
  return {holds_if(used == kSamples),
          {fmt::format("devices that took part in the step: {} of 4", used)},
          kAlgorithm};
}

}  // namespace

const Lesson kBatchOfOne{
    "batch-of-one",
    "A batch of 1 is not split: one of four devices does all the work.",
    takes_a_device_each<1>,
};

const Lesson kBatchOfTwo{
    "batch-of-two",
    "A batch of 2 uses two of four devices.",
    takes_a_device_each<2>,
};

namespace uneven_batches_fail {

constexpr int kSteps = 3;

struct Case {
  std::int64_t batch;
  int devices;
};

LessonFinding run(Classroom& room) {
  const auto model = make_model("mlp-tiny");
  LessonFinding finding{.scope = kAlgorithm};
  bool fails = false;
  for (const Case& each : {Case{10, 4}, Case{9, 4}, Case{33, 8}, Case{3, 8}}) {
    const auto platform = room.devices(each.devices);
    const TrainingOptions options{.global_batch = each.batch};
    double difference = 0;
    const auto error = capture_error([&] {
      difference = relative_difference(train_single(*platform, *model, options, kSteps),
                                       train_dp(*platform, *model, options, kSteps));
    });
    fails = fails || error || difference > kRounding;
    finding.evidence.push_back(fmt::format(
        "batch {} on {} devices: {}", each.batch, each.devices,
        error ? error->what()
              : fmt::format("{} steps as on one device within {:.1e}", kSteps, difference)));
  }
  finding.verdict = holds_if(fails);
  return finding;
}

}  // namespace uneven_batches_fail

const Lesson kUnevenBatchesFail{
    "uneven-batches-fail",
    "A batch that the devices do not divide fails, or trains wrongly.",
    uneven_batches_fail::run,
};

namespace padded_batches_break {

constexpr std::int64_t kFeatures = 10;
constexpr int kDevices = 4;
constexpr int kSteps = 5;

using Lengths = std::vector<std::int64_t>;

// Linear(10, 20) on each position of samples that are padded to `positions`.
LinearStack model_of(std::int64_t positions) {
  return LinearStack(LinearStackOptions{
      .name = "padded",
      .layers = {{.weight = "weight", .bias = "bias", .in = kFeatures, .out = 20}},
      .positions = positions,
  });
}

struct Differences {
  double outputs = 0;
  double gradients = 0;
};

// The differences between four devices and one, on one batch that is padded to its longest sample.
Differences differences_of(Classroom& room, const Lengths& lengths) {
  const std::int64_t longest = *std::max_element(lengths.begin(), lengths.end());
  const LinearStack model = model_of(longest);
  TrainingOptions options{.global_batch = static_cast<std::int64_t>(lengths.size())};
  options.optimizer.kind = OptimizerKind::kAdam;
  for (const std::int64_t length : lengths) options.input_lengths.push_back(length * kFeatures);
  const auto many = room.devices(kDevices);
  const auto one = room.devices(1);
  dp::DataParallel wrapped(*many, model, options);
  dp::DataParallel alone(*one, model, options);  // torch's shortcut: the module itself
  const Trained trained = train(*many, wrapped, kSteps);
  const Trained reference = train_single(*one, model, options, kSteps);
  static_cast<void>(train(*one, alone, kSteps));
  return {relative_difference(TensorValues{outputs_of(*one, alone)},
                              TensorValues{outputs_of(*many, wrapped)}),
          relative_difference(reference.gradients, trained.gradients)};
}

LessonFinding run(Classroom& room) {
  LessonFinding finding{.scope = kAlgorithm};
  bool breaks = false;
  for (const Lengths& lengths : {Lengths{10, 20, 30, 40}, Lengths{5, 15, 25, 35}}) {
    const Differences found = differences_of(room, lengths);
    breaks = breaks || found.outputs > kRounding || found.gradients > kRounding;
    finding.evidence.push_back(fmt::format(
        "lengths {} padded with zeros, Adam, {} devices against one: in step {} outputs "
        "within {:.1e}, gradients within {:.1e}",
        joined(lengths), kDevices, kSteps, found.outputs, found.gradients));
  }
  finding.verdict = holds_if(breaks);
  return finding;
}

}  // namespace padded_batches_break

const Lesson kPaddedBatchesBreak{
    "padded-batches-break",
    "Batches of sequences of different lengths, padded to the longest, break DataParallel.",
    padded_batches_break::run,
};

namespace output_shape {

constexpr int kDevices = 4;

// A batch of 9 leaves one of the devices without samples, a batch of 1 three devices.
LessonFinding run(Classroom& room) {
  LessonFinding finding{.scope = kAlgorithm};
  bool all = true;
  for (const std::int64_t batch : {10, 9, 1}) {
    const TrainedDp dp = trained_dp(room, kDevices, "linear", plain_sgd(batch));
    const std::int64_t width = dp.model->output_width();
    const auto gathered = values_of(*dp.platform, dp.strategy->gathered());
    const bool whole = static_cast<std::int64_t>(gathered.size()) == batch * width;
    const bool in_order = gathered == outputs_of(*dp.platform, *dp.strategy);
    all = all && whole && in_order;
    finding.evidence.push_back(fmt::format(
        "linear, batch {:>2} on {} devices, pieces {}: {} values gathered, {} a sample, {}", batch,
        kDevices, joined(samples_per_replica(dp)), gathered.size(), width,
        in_order ? "in the order of the batch" : "not what the replicas returned"));
  }
  finding.verdict = holds_if(all);
  return finding;
}

}  // namespace output_shape

const Lesson kOutputShape{
    "output-shape",
    "The output has the shape (full batch, ...), whatever the devices had of it.",
    output_shape::run,
};

namespace scalar_outputs {

constexpr int kDevices = 4;

bool warned(const Strategy& strategy) {
  const auto warnings = strategy.warnings();
  return std::find(warnings.begin(), warnings.end(), dp::scalars_warning()) != warnings.end();
}

// Each replica returns the loss of its shard. With a batch of 9 one of the devices has no samples.
LessonFinding run(Classroom& room) {
  LessonFinding finding{.scope = kAlgorithm};
  bool by_device = true;
  bool by_replica = true;
  for (const std::int64_t batch : {8, 10, 9}) {
    const TrainedDp trained = trained_dp(room, kDevices, "linear", plain_sgd(batch), 1,
                                         {.loss = dp::LossPlace::kReplicas});
    const int replicas = trained.strategy->devices_used();
    const auto length = values_of(*trained.platform, trained.strategy->gathered()).size();
    by_device = by_device && length == kDevices;
    by_replica = by_replica && length == static_cast<std::size_t>(replicas);
    finding.evidence.push_back(
        fmt::format("linear, batch {:>2} on {} devices, {} replicas: {} losses gathered, {}", batch,
                    kDevices, replicas, length,
                    warned(*trained.strategy) ? "with torch's warning" : "without a warning"));
  }
  finding.verdict = decide(by_device, by_replica && !by_device);
  return finding;
}

}  // namespace scalar_outputs

const Lesson kScalarOutputs{
    "scalar-outputs",
    "Scalars that forward returns become a vector as long as the number of devices.",
    scalar_outputs::run,
};

}  // namespace tandem::bench
