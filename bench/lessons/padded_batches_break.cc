// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "bench/lessons/all_lessons.h"
#include "bench/lessons/classroom.h"
#include "bench/lessons/training.h"
#include "common/model/linear_stack.h"

namespace tandem::bench {
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
  return {relative_difference(Values{outputs_of(*one, alone)}, Values{outputs_of(*many, wrapped)}),
          relative_difference(reference.gradients, trained.gradients)};
}

Finding run(Classroom& room) {
  Finding finding{.scope = kAlgorithm};
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

}  // namespace tandem::bench
