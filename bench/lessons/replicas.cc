// SPDX-License-Identifier: Apache-2.0
//
// Claims about what becomes of a replica: its weights, its gradients and its state.
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "bench/lessons/lessons.h"
#include "bench/lessons/training.h"
#include "common/model/zoo.h"
#include "common/parallel/independent.h"
#include "common/parallel/shards.h"
#include "common/parallel/single.h"

namespace tandem::bench {
namespace {

// A replica's contribution to the gradient in the first step: the gradient of its own mean loss,
// times its share of the batch, since the loss is a mean over the whole batch.
TensorValues contribution_of(Platform& platform, const Model& model, Shard shard,
                             const TrainingOptions& options, bool is_weighted = true) {
  Single alone(platform, platform.device(0), model, shard, options);
  TensorValues values = train(platform, alone, 1).gradients;
  const auto share = static_cast<float>(shard.count) / static_cast<float>(options.global_batch);
  for (auto& tensor : values) {
    for (float& value : tensor) value *= is_weighted ? share : 1;
  }
  return values;
}

TensorValues sum_of(const std::vector<TensorValues>& all, float factor) {
  TensorValues sum = all.front();
  for (std::size_t t = 0; t < sum.size(); ++t) {
    for (std::size_t e = 0; e < sum[t].size(); ++e) {
      sum[t][e] = 0;
      for (const TensorValues& one : all) sum[t][e] += factor * one[t][e];
    }
  }
  return sum;
}

LessonFinding parameters_never_update(Classroom& room) {
  const auto platform = room.devices(kDevices);
  const auto model = make_model("linear");
  dp::DataParallel strategy(*platform, *model, plain_sgd(64));
  const TensorValues initial = values_of(*platform, strategy.weights());
  const TensorValues trained = train(*platform, strategy).weights;
  const double moved = relative_difference(initial, trained);
  const double apart =
      relative_difference(train_single(*platform, *model, plain_sgd(64)).weights, trained);
  return {decide(moved == 0, moved > 0 && apart < kRounding),
          {fmt::format("linear, batch 64, {} devices: weights after {} steps are {:.1e} from the "
                       "first ones, and those of one device within {:.1e}",
                       kDevices, kSteps, moved, apart)}};
}

// Trains three steps; after the first, adds 1 to the parameters of `replica` where it is one.
Trained train_with_writer(Platform& platform, int replica) {
  const auto model = make_model("linear");
  dp::DataParallel strategy(platform, *model, plain_sgd(8));
  static_cast<void>(train(platform, strategy, 1));
  if (replica >= 0) {
    Replica& written = strategy.replica(replica);
    for (const Span<float> tensor : written.parameters().tensors) {
      written.operations().enqueue(written.stream(), AddScalar{.values = tensor, .constant = 1});
    }
    written.stream().synchronize();
  }
  return train(platform, strategy, 2);
}

LessonFinding replica_updates_lost(Classroom& room) {
  const auto platform = room.devices(2);
  const Trained untouched = train_with_writer(*platform, -1);
  const bool lost = train_with_writer(*platform, 1) == untouched;
  const bool kept = train_with_writer(*platform, 0) != untouched;
  return {holds_if(lost && kept),
          {fmt::format("1 added to all parameters of replica 1 after a step: training goes on {}",
                       lost ? "with the same bits as without" : "differently"),
           fmt::format("the same to replica 0, whose parameters are the module's own: {}",
                       kept ? "training goes on from them" : "no effect either")}};
}

LessonFinding forward_state_lost(Classroom& room) {
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

// The module's gradient in the first step, and what its replicas bring to it.
struct ReplicaGradients {
  TensorValues of_module;
  std::vector<TensorValues> contributions;
  std::vector<TensorValues> own;  // of the replicas' own mean losses
};

ReplicaGradients gradients_of(Classroom& room, std::int64_t batch, dp::LossPlace place) {
  const auto platform = room.devices(kDevices);
  const auto model = make_model("mlp-tiny");
  const TrainingOptions options{.global_batch = batch};
  ReplicaGradients all{
      .of_module = train_dp(*platform, *model, options, 1, {.loss = place}).gradients,
      .contributions = {},
      .own = {}};
  for (const Shard& shard : chunk_batch(batch, kDevices)) {
    all.contributions.push_back(contribution_of(*platform, *model, shard, options));
    all.own.push_back(contribution_of(*platform, *model, shard, options, false));
  }
  return all;
}

// The claim is judged on the whole batch's mean loss and uneven shards, which tell the two readings
// of the claim apart; the reading under which the claim is true stands beside the verdict.
LessonFinding gradients_averaged(Classroom& room) {
  const ReplicaGradients uneven = gradients_of(room, 10, dp::LossPlace::kRoot);
  const ReplicaGradients even = gradients_of(room, 8, dp::LossPlace::kReplicas);
  const double sum = relative_difference(sum_of(uneven.contributions, 1), uneven.of_module);
  const double average =
      relative_difference(sum_of(uneven.contributions, 1.0F / kDevices), uneven.of_module);
  return {decide(average < kRounding, sum < kRounding),
          {fmt::format("mean loss of the whole batch, 10 on {} devices: the module's gradient "
                       "differs by {:.1e} from the sum of what its replicas contribute, by {:.1f} "
                       "from their average",
                       kDevices, sum, average),
           fmt::format("the other reading: mean of the replicas' mean losses, even pieces (8 on "
                       "{}): it is the average of the gradients of those within {:.1e}",
                       kDevices,
                       relative_difference(sum_of(even.own, 1.0F / kDevices), even.of_module))}};
}

// A replica's loss is the sum of the squared differences of its outputs from its targets, over as
// many.
double loss_of(Platform& platform, Replica& replica, const SyntheticBatch& data) {
  const auto outputs = values_of(platform, Span<const float>(replica.output()));
  const std::vector<float> targets(data.targets().begin(), data.targets().end());
  TANDEM_CHECK(outputs.size() == targets.size(), "{} outputs", outputs.size());
  double sum = 0;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    sum += std::pow(static_cast<double>(outputs[i]) - targets[i], 2);
  }
  return sum / static_cast<double>(outputs.size());
}

LessonFinding mean_of_losses(Classroom& room) {
  LessonFinding finding;
  bool equal = true;
  for (const std::int64_t batch : {8, 10}) {
    const TrainingOptions options = plain_sgd(batch);
    TrainedDp dp(room, kDevices, "linear", options);
    double mean = 0;
    const std::vector<Shard> shards = chunk_batch(batch, kDevices);
    for (int i = 0; i < std::ssize(shards); ++i) {
      const SyntheticBatch data(*dp.platform,
                                batch_shape(*dp.model, shards[static_cast<std::size_t>(i)]),
                                options.seed, options.distribution);
      mean += loss_of(*dp.platform, dp.strategy.replica(i), data) / kDevices;
    }
    equal = equal && std::abs(mean - dp.strategy.loss()) < kRounding * dp.strategy.loss();
    finding.evidence.push_back(
        fmt::format("linear, batch {:>2} ({}): mean of the replicas' losses {:.6f}, loss of the "
                    "batch {:.6f}",
                    batch, fmt::join(dp.samples(), ", "), mean, dp.strategy.loss()));
  }
  finding.verdict = holds_if(equal);
  return finding;
}

LessonFinding update_on_every_device(Classroom& room) {
  TrainedDp dp(room, kDevices, "mlp-tiny", {.global_batch = 64}, 4);
  const TensorValues before = values_of(*dp.platform, dp.strategy.weights());
  const TensorValues after = train(*dp.platform, dp.strategy, 1).weights;
  std::vector<int> updated;
  std::vector<int> untouched;
  for (int i = 0; i < kDevices; ++i) {
    const auto mine = values_of(*dp.platform, dp.strategy.replica(i).parameters().tensors);
    if (mine == after) updated.push_back(i);
    if (mine == before) untouched.push_back(i);
  }
  return {decide(updated.size() == kDevices, updated == std::vector{0} && untouched.size() == 3),
          {fmt::format("hold the updated weights after a step: devices {}", updated),
           fmt::format("hold the weights that they were sent in it: devices {}", untouched)}};
}

LessonFinding independent_copies(Classroom& room) {
  const auto platform = room.devices(2);
  const auto model = make_model("mlp-tiny");
  const TrainingOptions options{.global_batch = 16};
  const TensorValues wrapped = train_dp(*platform, *model, options).weights;
  IndependentThreads apart(*platform, *model, options);
  const double from_apart = relative_difference(train(*platform, apart).weights, wrapped);
  const double from_batch =
      relative_difference(train_single(*platform, *model, options).weights, wrapped);
  return {decide(from_apart < kRounding, from_batch < kRounding),
          {fmt::format("{} steps on 2 devices: weights as those of the whole batch on one device "
                       "within {:.1e}",
                       kSteps, from_batch),
           fmt::format("as those of copies that really train apart: within {:.1e}", from_apart)}};
}

// All steps are enqueued at once, while every shard of queued work starts late by a random time: a
// device that did not wait for the update would run ahead of the update.
LessonFinding old_weights(Classroom& room) {
  const auto model = make_model("mlp-tiny");
  const TrainingOptions options{.global_batch = 16};
  const auto calm = room.devices(kDevices);
  const auto disturbed =
      room.devices(kDevices, {.largest_delay = std::chrono::microseconds(200), .delay_seed = 1});
  dp::DataParallel waiting(*calm, *model, options);
  for (int step = 1; step < kSteps; ++step) static_cast<void>(train(*calm, waiting, 1));
  const bool same = train_dp(*disturbed, *model, options) == train(*calm, waiting, 1);
  return {holds_if(!same),
          {fmt::format("{} steps enqueued without a wait, work delayed at random on {} devices: {} "
                       "as with a wait after each step",
                       kSteps, kDevices, same ? "the same bits" : "other numbers")}};
}

LessonFinding replicas_rebuilt(Classroom& room) {
  const auto platform = room.devices(2);
  const auto model = make_model("mlp-tiny");
  dp::DataParallel strategy(*platform, *model, {.global_batch = 8});
  int copied = 0;
  for (int step = 0; step < kSteps; ++step) {
    const TensorValues before = values_of(*platform, strategy.weights());
    static_cast<void>(train(*platform, strategy, 1));
    if (values_of(*platform, strategy.replica(1).parameters().tensors) == before) ++copied;
  }
  return {
      holds_if(copied == kSteps),
      {fmt::format("replica 1 got the module's newest weights in {} of {} steps", copied, kSteps)}};
}

// Compares the gradients that backward left in each device's own memory with those of the device's
// shard trained by itself.
LessonFinding backward_on_one_device(Classroom& room) {
  const TrainingOptions options{.global_batch = 10};
  TrainedDp dp(room, kDevices, "mlp-tiny", options);
  const auto shards = chunk_batch(options.global_batch, kDevices);
  const auto is_nonzero = [](const auto& tensor) {
    return std::ranges::any_of(tensor, [](float value) { return value != 0; });
  };
  int nonzero = 0;
  double worst = 0;
  for (int i = 0; i < kDevices; ++i) {
    const TensorValues mine = values_of(*dp.platform, dp.strategy.replica_gradients(i));
    if (std::ranges::any_of(mine, is_nonzero)) ++nonzero;
    const Shard shard = shards[static_cast<std::size_t>(i)];
    worst = std::max(
        worst, relative_difference(contribution_of(*dp.platform, *dp.model, shard, options), mine));
  }
  return {
      decide(nonzero == 1, nonzero == kDevices && worst < kRounding),
      {fmt::format("devices with gradients of their own that are not zero: {} of {}", nonzero,
                   kDevices),
       fmt::format("each device's are those of its own piece of the batch within {:.1e}", worst)}};
}

}  // namespace

const std::vector<Lesson>& replica_lessons() {
  static const std::vector<Lesson> all{
      {"parameters-never-update",
       "Parameters are not updated when a model is wrapped in DataParallel.",
       parameters_never_update},
      {"replica-updates-lost",
       "An update written to a replica's parameters is lost, but for replica 0, which is the "
       "module.",
       replica_updates_lost},
      {"forward-state-lost",
       "Plain attributes that forward rebinds are lost, and what it writes to buffers in place "
       "stays for replica 0 alone.",
       forward_state_lost,
       {.scope = "numerics: true of the algorithm anywhere, where attributes are rebound "
                 "(self.calls += 1); an object that is changed in place (a list that is appended "
                 "to) is not modelled here: torch's replicas share it by reference, and what they "
                 "put into it stays"}},
      {"gradients-averaged",
       "DataParallel averages the gradients of its replicas.",
       gradients_averaged,
       {.scope = "numerics: true of the algorithm anywhere, for a loss that is a mean over the "
                 "whole batch and what each replica contributes to its gradient; a mean of the "
                 "replicas' own losses brings a division by their number, which is that loss's, "
                 "not DataParallel's"}},
      {"mean-of-losses", "The plain mean of the replicas' losses is the loss of the batch.",
       mean_of_losses},
      {"update-on-every-device",
       "Every device updates its own weights with the sum of the gradients.",
       update_on_every_device},
      {"independent-copies",
       "Each device trains its own copy of the model, without synchronisation.",
       independent_copies},
      {"old-weights", "A device may begin the next batch before the weights are updated.",
       old_weights},
      {"replicas-rebuilt", "The model is copied to the devices in every step, not once.",
       replicas_rebuilt},
      {"backward-on-one-device", "Backward runs on one device only.", backward_on_one_device},
  };
  return all;
}

}  // namespace tandem::bench
