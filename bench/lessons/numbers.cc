// SPDX-License-Identifier: Apache-2.0
//
// Claims about numbers: what becomes of a replica, what is asked of the user, how batches are cut.
// More devices than cores change no numbers.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "bench/lessons/lessons.h"
#include "common/base/error.h"
#include "common/model/tensor_values.h"
#include "common/model/zoo.h"
#include "common/parallel/shards.h"
#include "common/parallel/single.h"
#include "dp/data_parallel.h"

namespace tandem::bench {
namespace {

// Sums in another order differ by rounding; a wrong gradient differs by far more.
constexpr double kRounding = 1e-4;
constexpr int kDevices = 4;
constexpr int kSteps = 5;

struct Trained {
  TensorValues weights;
  TensorValues gradients;  // of the last step

  bool operator==(const Trained&) const = default;
};

Trained train(Platform& platform, Strategy& strategy, int steps = kSteps) {
  for (int step = 0; step < steps; ++step) strategy.step();
  strategy.synchronize();
  return {values_of(platform, strategy.weights()), values_of(platform, strategy.gradients())};
}

// Trains on device 0 without a wrapper, on a shard of the batch.
Trained train_single(Platform& platform, const Model& model, const TrainingOptions& options,
                     const Shard& shard, int steps = kSteps) {
  Single strategy(platform, platform.device(0), model, shard, options);
  return train(platform, strategy, steps);
}

// A DataParallel on devices of its own that has trained some steps.
struct TrainedDp {
  TrainedDp(const Classroom& room, int devices, const char* name, const TrainingOptions& options,
            int steps = 1, const dp::DataParallelOptions& how = {})
      : platform(room.devices(devices)),
        model(make_model(name)),
        strategy(*platform, *model, options, how) {
    static_cast<void>(train(*platform, strategy, steps));
  }

  std::unique_ptr<Platform> platform;
  std::unique_ptr<Model> model;
  dp::DataParallel strategy;
};

// A training by DataParallel, held against that of one device.
struct Case {
  std::int64_t batch = 0;
  int devices = kDevices;
  const char* model = "mlp-tiny";
  OptimizerKind optimizer = OptimizerKind::kSgd;
  std::vector<std::int64_t> lengths{};  // of sequences of 10 features, padded with zeros
  dp::DataParallelOptions how{};
  std::string_view note{};  // what sets the case apart, before its evidence
};

bool trains_as_one(const Classroom& room, const Case& each, std::vector<std::string>& evidence) {
  TrainingOptions options{.global_batch = each.batch};
  options.optimizer.kind = each.optimizer;
  for (const std::int64_t length : each.lengths) options.input_lengths.push_back(10 * length);
  double difference = 0;
  const auto error = capture_error([&] {
    TrainedDp dp(room, each.devices, each.model, options, kSteps, each.how);
    const Trained one = train_single(*dp.platform, *dp.model, options, {0, each.batch});
    difference =
        relative_difference(one.gradients, values_of(*dp.platform, dp.strategy.gradients()));
  });
  const std::string lengths =
      each.lengths.empty() ? "" : fmt::format(" of lengths {}", fmt::join(each.lengths, ", "));
  evidence.push_back(
      fmt::format("{}{}, batch {}{} on {} devices: {}", each.note, each.model, each.batch, lengths,
                  each.devices,
                  error ? error->what()
                        : fmt::format("gradients of step {} as on one device within {:.1e}", kSteps,
                                      difference)));
  return !error && difference < kRounding;
}

// The claim that some of the cases fails, or trains otherwise than one device.
LessonFinding goes_wrong(const Classroom& room, const std::vector<Case>& cases) {
  LessonFinding finding;
  const auto is_wrong = [&](const Case& each) {
    return !trains_as_one(room, each, finding.evidence);
  };
  finding.verdict = holds_if(std::ranges::count_if(cases, is_wrong) > 0);
  return finding;
}

LessonFinding model_on_first_device(const Classroom& room) {
  LessonFinding finding;
  Case there{.batch = 9, .devices = 3, .how = {.device_ids = {0, 1, 2}}};
  there.note = "device_ids 0, 1, 2, model on 0: ";
  const bool on_first = trains_as_one(room, there, finding.evidence);
  there.how.model_device = 1;
  there.note = "device_ids 0, 1, 2, model on 1: ";
  const bool on_second = trains_as_one(room, there, finding.evidence);
  there.how = {.device_ids = {2, 0, 1}, .output_device = 1, .model_device = 2};
  there.note = "device_ids 2, 0, 1, model on 2: ";
  const bool in_other_order = trains_as_one(room, there, finding.evidence);
  finding.verdict = holds_if(on_first && in_other_order && !on_second);
  return finding;
}

LessonFinding padded_batches_break(const Classroom& room) {
  Case padded{.batch = 4, .model = "padded", .optimizer = OptimizerKind::kAdam};
  std::vector<Case> cases;
  for (const auto& lengths : {std::vector<std::int64_t>{10, 20, 30, 40}, {5, 15, 25, 35}}) {
    padded.lengths = lengths;
    cases.push_back(padded);
  }
  return goes_wrong(room, cases);
}

// Whether each batch's samples per replica are as `claimed` says.
template <class Claimed>
LessonFinding pieces_are(const Classroom& room, const std::vector<std::int64_t>& batches,
                         const Claimed& claimed) {
  LessonFinding finding{.verdict = LessonVerdict::kHolds};
  for (const std::int64_t batch : batches) {
    TrainedDp dp(room, kDevices, "linear", {.global_batch = batch});
    std::vector<std::int64_t> samples;
    for (int i = 0; i < dp.strategy.devices_used(); ++i) {
      samples.push_back(dp.strategy.replica(i).output().size() / dp.model->output_width());
    }
    if (!claimed(samples)) finding.verdict = LessonVerdict::kDoesNotHold;
    finding.evidence.push_back(fmt::format("batch {} on {} devices: {}{}", batch, kDevices,
                                           fmt::join(samples, ", "),
                                           samples.size() < kDevices ? ", the rest idle" : ""));
  }
  return finding;
}

// Trains three steps; after the first, adds 1 to the parameters of `replica` where it is one.
Trained train_with_writer(const Classroom& room, int replica) {
  TrainedDp dp(room, 2, "linear", {.global_batch = 8});
  if (replica >= 0) {
    Replica& written = dp.strategy.replica(replica);
    written.operations().enqueue(written.stream(),
                                 AddScalar{.tensors = written.parameters().tensors, .constant = 1});
    written.stream().synchronize();
  }
  return train(*dp.platform, dp.strategy, 2);
}

LessonFinding replica_updates_lost(const Classroom& room) {
  const Trained untouched = train_with_writer(room, -1);
  const bool lost = train_with_writer(room, 1) == untouched;
  const bool kept = train_with_writer(room, 0) != untouched;
  return {holds_if(lost && kept),
          {fmt::format("1 added to all parameters of replica 1 after a step: training goes on {}",
                       lost ? "with the same bits as without" : "differently"),
           fmt::format("the same to replica 0, whose parameters are the module's own: {}",
                       kept ? "training goes on from them" : "no effect either")}};
}

LessonFinding forward_state_lost(const Classroom& room) {
  TrainedDp dp(room, 3, "counter", {.global_batch = 9}, kSteps);
  const ModuleState& module = dp.strategy.module();
  const auto found = module.attributes.find("calls");
  const double attribute = found == module.attributes.end() ? 0 : found->second;
  const float buffer = values_of(*dp.platform, module.buffers).front().front();
  return {
      holds_if(attribute == 0 && buffer == kSteps),
      {fmt::format("forward ran {} times on each of 3 replicas", kSteps),
       fmt::format("counted in a plain attribute of the module, rebound in each: {}", attribute),
       fmt::format("counted in a buffer, in place: {}, the calls of replica 0 alone", buffer)}};
}

TensorValues weighted_sum(const std::vector<TensorValues>& all, const std::vector<float>& weights) {
  TensorValues sum = all.front();
  for (std::size_t t = 0; t < sum.size(); ++t) {
    for (std::size_t e = 0; e < sum[t].size(); ++e) {
      sum[t][e] = 0;
      for (std::size_t i = 0; i < all.size(); ++i) sum[t][e] += weights[i] * all[i][t][e];
    }
  }
  return sum;
}

// A first step on a batch whose loss is a mean, and each piece of the batch trained by itself.
struct FirstStep {
  FirstStep(const Classroom& room, std::int64_t batch, dp::LossPlace place)
      : dp(room, kDevices, "mlp-tiny", {.global_batch = batch}, 1, {.loss = place}) {
    for (const Shard& shard : chunk_batch(batch, kDevices)) {
      gradients.push_back(
          train_single(*dp.platform, *dp.model, {.global_batch = batch}, shard, 1).gradients);
      shares.push_back(static_cast<float>(shard.count) / static_cast<float>(batch));
    }
  }

  // How far the module's gradient is from the sum of the pieces' gradients times `weights`.
  [[nodiscard]] double distance(const std::vector<float>& weights) {
    return relative_difference(weighted_sum(gradients, weights),
                               values_of(*dp.platform, dp.strategy.gradients()));
  }

  TrainedDp dp;
  std::vector<TensorValues> gradients;  // of the pieces' own mean losses
  std::vector<float> shares;            // of the batch: a piece contributes that much of its own
};

// The claim is judged on the whole batch's mean loss and uneven shards, which separate the two
// readings of the claim apart; the reading under which the claim is true stands beside the verdict.
LessonFinding gradients_averaged(const Classroom& room) {
  FirstStep uneven(room, 10, dp::LossPlace::kRoot);
  FirstStep even(room, 8, dp::LossPlace::kReplicas);
  std::vector<float> averaged = uneven.shares;
  for (float& share : averaged) share /= kDevices;
  const double sum = uneven.distance(uneven.shares);
  const double average = uneven.distance(averaged);
  return {decide(average < kRounding, sum < kRounding),
          {fmt::format("mean loss of the whole batch, 10 on {} devices: the module's gradient "
                       "differs by {:.1e} from the sum of what its replicas contribute, by {:.1f} "
                       "from their average",
                       kDevices, sum, average),
           fmt::format("the other reading: mean of the replicas' mean losses, even pieces (8 on "
                       "{}): it is the average of the gradients of those within {:.1e}",
                       kDevices, even.distance(std::vector(kDevices, 1.0F / kDevices)))}};
}

LessonFinding replicas_rebuilt(const Classroom& room) {
  TrainedDp dp(room, kDevices, "mlp-tiny", {.global_batch = 64});
  const auto weights_of = [&](int replica) {
    return values_of(*dp.platform, dp.strategy.replica(replica).parameters().tensors);
  };
  int rebuilt = 0;
  for (int step = 0; step < kSteps; ++step) {
    const TensorValues before = values_of(*dp.platform, dp.strategy.weights());
    const TensorValues after = train(*dp.platform, dp.strategy, 1).weights;
    bool all = weights_of(0) == after && after != before;
    for (int i = 1; i < kDevices; ++i) all = all && weights_of(i) == before;
    if (all) ++rebuilt;
  }
  return {holds_if(rebuilt == kSteps),
          {fmt::format("in {} of {} steps the first device alone ended with updated weights, and "
                       "the {} others with the weights from before the step, which they were sent "
                       "in it",
                       rebuilt, kSteps, kDevices - 1)}};
}

// Each replica returns the loss of its shard. With a batch of 9 one of the devices has no samples.
LessonFinding scalar_outputs(const Classroom& room) {
  LessonFinding finding;
  bool by_device = true;
  bool by_replica = true;
  for (const std::int64_t batch : {8, 10, 9}) {
    TrainedDp dp(room, kDevices, "linear", {.global_batch = batch}, 1,
                 {.loss = dp::LossPlace::kReplicas});
    const auto losses = dp.strategy.gathered().size();
    by_device = by_device && losses == kDevices;
    by_replica = by_replica && losses == dp.strategy.devices_used();
    const auto warnings = dp.strategy.warnings();
    const bool warned = std::ranges::find(warnings, dp::scalars_warning()) != warnings.end();
    finding.evidence.push_back(fmt::format(
        "linear, batch {} on {} devices, {} replicas: {} losses gathered, {}", batch, kDevices,
        dp.strategy.devices_used(), losses, warned ? "with torch's warning" : "without a warning"));
  }
  finding.verdict = decide(by_device, by_replica && !by_device);
  return finding;
}

LessonFinding root_memory(const Classroom& room) {
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

constexpr std::string_view kWhereRebound =
    "numerics: true of the algorithm anywhere, where attributes are rebound (self.calls += 1); an "
    "object that is changed in place (a list that is appended to) is not modelled here: torch's "
    "replicas share it by reference, and what they put into it stays";
constexpr std::string_view kForAMeanLoss =
    "numerics: true of the algorithm anywhere, for a loss that is a mean over the whole batch and "
    "what each replica contributes to its gradient; a mean of the replicas' own losses brings a "
    "division by their number, which is that loss's, not DataParallel's";

}  // namespace

const std::vector<Lesson>& number_lessons() {
  using Pieces = std::vector<std::int64_t>;
  static const std::vector<Lesson> all{
      {"replica-updates-lost",
       "An update written to a replica's parameters is lost, but for replica 0, which is the "
       "module.",
       replica_updates_lost},
      {"forward-state-lost",
       "Plain attributes that forward rebinds are lost, and what it writes to buffers in place "
       "stays for replica 0 alone.",
       forward_state_lost, kWhereRebound},
      {"gradients-averaged", "DataParallel averages the gradients of its replicas.",
       gradients_averaged, kForAMeanLoss},
      {"independent-copies",
       "Each device trains its own copy of the model, without synchronisation.",
       [](const Classroom& room) { return goes_wrong(room, {{.batch = 16, .devices = 2}}); }},
      {"replicas-rebuilt", "The model is copied to the devices in every step, not once.",
       replicas_rebuilt},
      {"model-on-first-device", "The model has to be on device_ids[0].", model_on_first_device},
      {"custom-parameter",
       "A layer with a parameter of its own, multiplied by hand, goes wrong under DataParallel.",
       [](const Classroom& room) {
         return goes_wrong(room,
                           {{.batch = 32, .model = "custom", .optimizer = OptimizerKind::kAdam}});
       }},
      // As even as whole samples allow: no device is idle, no two differ by more than one sample.
      {"even-split", "Every batch is split as evenly as it can be.",
       [](const Classroom& room) {
         return pieces_are(room, {64, 10, 9, 5, 2}, [](const Pieces& pieces) {
           const auto [least, most] = std::ranges::minmax(pieces);
           return pieces.size() == kDevices && most - least <= 1;
         });
       }},
      {"batch-of-one", "A batch of 1 is not split: one of four devices does all the work.",
       [](const Classroom& room) {
         return pieces_are(room, {1}, [](const Pieces& pieces) { return pieces.size() == 1; });
       }},
      {"uneven-batches-fail", "A batch that the devices do not divide fails, or trains wrongly.",
       [](const Classroom& room) {
         return goes_wrong(room, {{.batch = 10},
                                  {.batch = 9},
                                  {.batch = 33, .devices = 8},
                                  {.batch = 3, .devices = 8}});
       }},
      {"padded-batches-break",
       "Batches of sequences of different lengths, padded to the longest, break DataParallel.",
       padded_batches_break},
      {"scalar-outputs",
       "Scalars that forward returns become a vector as long as the number of devices.",
       scalar_outputs},
      {"root-memory", "The first device holds more memory than the others.", root_memory,
       "this implementation's allocations, which are those of the algorithm, without a caching "
       "allocator's"},
  };
  return all;
}

}  // namespace tandem::bench
